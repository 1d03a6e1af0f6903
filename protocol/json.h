/* SPDX-License-Identifier: MIT */
/* json.h - JSON in and out: the only header behind which json-c lies.
 *
 * Reading.  The text is read by our own scanner (scan.h), which refuses what
 * json-c lets pass: single quotes, raw control characters, bad UTF-8, trailing
 * text, integers beyond 64 bits, nesting; json-c holds the tree.  A key that
 * holds \u0000 is refused; a string may.  A struct json is one document and has
 * one owner at a time (json-c's counts are not atomic); moving it to another
 * thread through a queue is fine.  A struct jval is a borrowed view into it,
 * passed by value, valid as long as the document.
 *
 * Writing: json_writer.h, which comes with this header. */
#ifndef PROTOCOL_JSON_H
#define PROTOCOL_JSON_H

#include "json_writer.h"
#include "quote.h"
#include "scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum json_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,    /* fits int64_t */
    JSON_UINT,   /* above INT64_MAX, fits uint64_t */
    JSON_DOUBLE, /* finite, unless JSON_NAN was given */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json;

struct jval {
    const void *node; /* a node of json-c */
};

/* Parses the whole text (white space around is fine).  NULL on failure: err
 * names byte offset and what was expected. */
struct json *json_parse(const char *text, size_t len, unsigned flags,
                        struct err *err);
void json_free(struct json *doc);
struct jval json_root(const struct json *doc);

enum json_type jval_type(struct jval v);
/* "an integer", "an object", ... for error texts. */
const char *jval_type_name(struct jval v);

/* The member of an object; false when v is no object or has no such key. */
bool jval_get(struct jval v, const char *key, struct jval *out);
/* Number of elements or keys; 0 for anything else. */
size_t jval_count(struct jval v);
/* An element of an array; i < jval_count(array). */
struct jval jval_at(struct jval array, size_t i);
/* Whether n is among the elements of an array; of what is none, false. */
bool jval_has_uint(struct jval array, uint64_t n);

/* Walks an object in the order of its text:
 *     struct jval_iter it = jval_iter(object);
 *     while (jval_next(&it)) use(it.key, it.value);  */
struct jval_iter {
    const char *key; /* borrowed, NUL-terminated; holds no NUL itself */
    struct jval value;
    const void *entry; /* an entry of json-c */
};
struct jval_iter jval_iter(struct jval object);
bool jval_next(struct jval_iter *it);

/* Read a value; false when it is not of that type. */
bool jval_bool(struct jval v, bool *out);
bool jval_int(struct jval v, int64_t *out);   /* JSON_INT */
bool jval_uint(struct jval v, uint64_t *out); /* any integer of at least 0 */
bool jval_double(struct jval v, double *out); /* JSON_DOUBLE */
bool jval_number(struct jval v, double *out); /* any number, rounded */
/* Reads a string, NUL-terminated, borrowed; *len is its length; len may be
 * NULL. */
bool jval_string(struct jval v, const char **out, size_t *len);

/* A member of an object; "" or NAN where there is none of that type. */
const char *jval_text_of(struct jval object, const char *key);
double jval_number_of(struct jval object, const char *key);

/* Whether both are the same value; 1 and 1.0 are, true and 1 are not, NaN is
 * the same as NaN; the order of keys does not matter. */
bool jval_equal(struct jval a, struct jval b);

/* Appends v in Python's spelling, NaN and infinities too: a caller that must
 * not emit those checks before. */
void jval_write(struct jval v, struct buf *out);
/* v in that spelling as a text, to be freed; NULL: out of memory. */
char *jval_copy_text(struct jval v);

/* v as JSON, made fit for an error text as quote_bytes() does; returns out. */
const char *jval_quote(char out[QUOTE_MAX], struct jval v);

#endif
