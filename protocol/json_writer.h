/* SPDX-License-Identifier: MIT */
/* json_writer.h - a JSON text, written piece by piece: commas, colons, quotes
 * and brackets are placed by the writer, never by who calls it.
 *
 *     struct json_writer w = json_begin_object(out);
 *
 *     json_add_text(&w, "name", "random");
 *     json_open_array(&w, "seeds");
 *     json_add_unsigned(&w, NULL, 7);
 *     json_close(&w);
 *     arguments_write(args, json_value(&w, "arguments"));
 *     json_close(&w);
 *
 * writes {"name": "random", "seeds": [7], "arguments": ...}.  Everywhere the
 * key is that of the member to be written; NULL for an element of an array and
 * for a value on its own.  Keys and texts may hold any bytes, as with
 * json_write_string().
 *
 * The writer owns no memory: it appends to a struct buf, whose failure tells of
 * the writing, too. */
#ifndef PROTOCOL_JSON_WRITER_H
#define PROTOCOL_JSON_WRITER_H

#include "scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct json_writer {
    struct buf *out;
    const char *comma, *colon;
    size_t comma_len, colon_len;
    bool due; /* a comma, before what comes next */
    unsigned depth;
    uint64_t arrays; /* which of those that are open are: bit 0 the outermost */
};

/* Nothing is open yet: for an array, or a value on its own. */
struct json_writer json_begin(struct buf *out);
/* An object is open. */
struct json_writer json_begin_object(struct buf *out);
/* The object that ends the buffer is open again, for further members. */
struct json_writer json_reopen_object(struct buf *out);

/* What stands between from here on: ", " and ": ", as Python writes, unless
 * this is called.  Both texts are borrowed. */
void json_separate(struct json_writer *w, const char *comma, const char *colon);

/* Deeper than JSON_DEPTH_MAX is a failure of the buffer. */
void json_open_object(struct json_writer *w, const char *key);
void json_open_array(struct json_writer *w, const char *key);
/* False: there is none, and the member is null. */
bool json_open_object_if(struct json_writer *w, const char *key, bool there);
/* Closes what was opened last; all that is open. */
void json_close(struct json_writer *w);
void json_end(struct json_writer *w);

/* NULL: null. */
void json_add_text(struct json_writer *w, const char *key, const char *text);
void json_add_string(struct json_writer *w, const char *key, const char *text,
                     size_t len);
void json_add_integer(struct json_writer *w, const char *key, int64_t value);
void json_add_unsigned(struct json_writer *w, const char *key, uint64_t value);
/* null where there is none. */
void json_add_unsigned_if(struct json_writer *w, const char *key, bool there,
                          uint64_t value);
/* A number that is not finite: null. */
void json_add_number(struct json_writer *w, const char *key, double value);
void json_add_bool(struct json_writer *w, const char *key, bool value);
/* What is JSON already, such as a trial's parameters; NULL: null. */
void json_add_raw(struct json_writer *w, const char *key, const char *json);

/* The buffer, to which the caller appends exactly one value in JSON, as in
 *     buf_printf(json_value(&w, "elapsed"), "%.6f", elapsed); */
struct buf *json_value(struct json_writer *w, const char *key);

/* A value on its own.  Python's spelling, because trials and managers compare
 * bytes: ASCII only (\uXXXX), doubles as number_format(). */
void json_write_string(struct buf *out, const char *text, size_t len);
void json_write_double(struct buf *out, double value);
/* NULL: null. */
void json_write_text(struct buf *out, const char *text);

#endif
