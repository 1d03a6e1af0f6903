/* SPDX-License-Identifier: MIT */
/* buf.h - a growing run of bytes that was given its maximum at birth.
 *
 * Appending cannot be forgotten to be checked: the first failure (over the
 * maximum, or out of memory) sticks, later appends do nothing, and buf_check()
 * tells once at the end.  One owner at a time. */
#ifndef CORE_BUF_H
#define CORE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct buf {
    char *data; /* NULL while empty; NUL-terminated after buf_text() only */
    size_t len, cap, max;
    bool failed;
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_fini(struct buf *b);

/* Empties the buffer and clears its failure; the memory stays. */
void buf_clear(struct buf *b);

/* Makes room for `extra` more bytes and returns where to write them, or NULL;
 * the caller writes there and then adds what it wrote to b->len. */
char *buf_reserve(struct buf *b, size_t extra);

void buf_add(struct buf *b, const void *data, size_t len);
void buf_add_text(struct buf *b, const char *text);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Drops the first `len` bytes. */
void buf_consume(struct buf *b, size_t len);

/* The content as a NUL-terminated string, "" after a failure; borrowed. */
const char *buf_text(struct buf *b);

/* Gives the NUL-terminated content away (the caller frees it) and starts
 * afresh; NULL after a failure. */
char *buf_take(struct buf *b);

/* -1 when an append failed; `what` names the thing that grew too large. */
int buf_check(const struct buf *b, const char *what, struct err *err);

#endif
