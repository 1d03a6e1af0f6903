/* SPDX-License-Identifier: MIT */
/* lines.h - the lines of a file that may still grow, once: what lies behind
 * its last line end is not there yet.  One thread. */
#ifndef STORE_LINES_H
#define STORE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

struct lines {
    char *path;
    FILE *file;
    char *text; /* of the line in hand, without its end; len long */
    size_t len, cap;
    int64_t offset; /* behind it */
    int64_t number; /* its own, from 1 */
};

/* FOLDER/NAME.  lines_close() in either case. */
int lines_open(struct lines *l, const char *folder, const char *name,
               struct err *err);
void lines_close(struct lines *l);

/* To behind line `number`, which ended at `offset`, with what lines_mark() gave
 * there; -1: nobody knows.  1: no line ends there, or another one, and err
 * tells. */
int lines_seek(struct lines *l, int64_t offset, int64_t number, int64_t mark,
               struct err *err);

/* A checksum of what stands before l->offset, as far as it tells one file from
 * another.  The last that is done before lines_close().  -1: it cannot be
 * read. */
int lines_mark(const struct lines *l, int64_t *mark, struct err *err);

/* 1: a line is in hand; 0: there are no more; -1: it cannot be read. */
int lines_next(struct lines *l, struct err *err);

#endif
