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

struct scan {
    const char *text;
    size_t len, at;
    unsigned flags; /* enum json_flags: JSON_NAN, JSON_COMMENTS */
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
    const char *text; /* STRING: between the quotes; NUMBER: its digits */
    size_t len;
    bool escaped; /* STRING: holds backslashes */
};

/* The next token; strings are checked (escapes, control characters, UTF-8),
 * numbers are checked for their form. */
struct scan_token scan_next(struct scan *s);

/* Steps over one whole value; false on error. */
bool scan_skip(struct scan *s);

/* -1 with offset and expectation unless the text is exactly one value. */
int scan_check(const char *text, size_t len, unsigned flags, struct err *err);

/* Decodes a STRING token's escapes into out (appends; lone surrogates become
 * U+FFFD). */
void scan_unescape(const struct scan_token *t, struct buf *out);

/* A NUMBER token's value, correctly rounded; NaN and infinities where the
 * flags allow them.  False when out of a double's range. */
bool scan_number(const struct scan_token *t, double *out);

#endif
