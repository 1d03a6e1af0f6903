/* SPDX-License-Identifier: MIT */
/* scan.h - a strict pull scanner over JSON text: no allocation, no recursion
 * deeper than JSON_DEPTH_MAX, byte offsets in every error.
 *
 * Two uses: scan_check() walks a whole text before json-c sees it, and
 * metrics, by far the most frequent payload, are decoded straight from it.
 * Any thread. */
#ifndef PROTOCOL_SCAN_H
#define PROTOCOL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

#define JSON_DEPTH_MAX 64

enum json_flags {
    JSON_STRICT = 0,
    JSON_NAN = 1,      /* NaN, Infinity and -Infinity are numbers */
    JSON_COMMENTS = 2, /* # and // to the end of the line are space */
    /* a key that stands twice is an error; else its last value counts */
    JSON_UNIQUE = 4,
};

/* Start with {text, len, 0, flags}. */
struct scan {
    const char *text;
    size_t len, at;
    unsigned flags;      /* enum json_flags: JSON_NAN, JSON_COMMENTS */
    const char *problem; /* static text after an error, see scan_error() */
};

enum scan_type {
    SCAN_ERROR, /* scan_error() tells */
    SCAN_END,
    SCAN_NULL,
    SCAN_TRUE,
    SCAN_FALSE,
    SCAN_NUMBER,
    SCAN_STRING,
    SCAN_OPEN_ARRAY,
    SCAN_CLOSE_ARRAY,
    SCAN_OPEN_OBJECT,
    SCAN_CLOSE_OBJECT,
    SCAN_COMMA,
    SCAN_COLON,
};

struct scan_token {
    enum scan_type type;
    size_t at;        /* offset of its first byte */
    const char *text; /* STRING: between the quotes; else from its first byte */
    size_t len;
    bool escaped; /* STRING: holds backslashes */
};

/* The next token; strings are checked (escapes, control characters, UTF-8),
 * numbers are checked for their form.  The order of tokens is the caller's to
 * check.  After an error s->at is the offset of the byte at fault. */
struct scan_token scan_next(struct scan *s);

/* Marks an error at a token that stands where it must not: `problem` is a
 * static text, such as "expected a string". */
void scan_refuse(struct scan *s, const struct scan_token *t,
                 const char *problem);

/* Fills err (ERR_INPUT) after an error: "byte 17: expected ',', not '}'".
 * Returns -1. */
int scan_error(const struct scan *s, struct err *err);

/* Takes the end of the text; -1: err tells what stands there instead. */
int scan_end(struct scan *s, struct err *err);

/* Steps over one whole value; or over the rest of the value that `first`, just
 * taken, begins.  False on error. */
bool scan_skip(struct scan *s);
bool scan_skip_from(struct scan *s, struct scan_token first);

/* Checks that the text is exactly one value whose integers fit 64 bits; -1: err
 * tells offset and expectation.  Ranges of doubles, and whether a key stands
 * twice, are not checked. */
int scan_check(const char *text, size_t len, unsigned flags, struct err *err);

/* Decodes a STRING token's escapes into out (appends; lone surrogates become
 * U+FFFD). */
void scan_unescape(const struct scan_token *t, struct buf *out);

#define SCAN_NUMBER_MAX 500 /* characters */

/* A NUMBER token's value, correctly rounded; NaN and infinities where the
 * flags allow them.  False when out of a double's range, or longer than
 * SCAN_NUMBER_MAX. */
bool scan_number(const struct scan_token *t, double *out);

/* Whether a NUMBER token is written without fraction and exponent. */
bool scan_is_integer(const struct scan_token *t);

/* The value of an integer token of at least 0; false when it is anything else
 * or does not fit. */
bool scan_uint(const struct scan_token *t, uint64_t *out);
bool scan_int(const struct scan_token *t, int64_t *out);

/* Length of the valid UTF-8 sequence at p, of at most `left` bytes; 0: none
 * (overlong forms, surrogates and what lies beyond U+10FFFF are not valid). */
size_t scan_utf8(const char *p, size_t left);

#endif
