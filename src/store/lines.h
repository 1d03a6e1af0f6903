/* SPDX-License-Identifier: MIT */
/* lines.h - reads the lines of a file that may still grow, once; a last line
 * without an end does not count yet.  One thread. */
#ifndef STORE_LINES_H
#define STORE_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

struct lines {
    char *path;
    FILE *file;
    char *text; /* the current line, without its end; len long */
    size_t len, cap;
    int64_t offset; /* behind the current line */
    int64_t number; /* of the current line, from 1 */
};

/* Opens FOLDER/NAME.  lines_close() in either case. */
int lines_open(struct lines *l, const char *folder, const char *name,
               struct err *err);
void lines_close(struct lines *l);

/* Goes behind line `number`, which ended at `offset`, where lines_mark() gave
 * `mark`; -1: no mark is known.  1: no line ends there, or another one, and err
 * tells. */
int lines_seek(struct lines *l, int64_t offset, int64_t number, int64_t mark,
               struct err *err);

/* Gives a checksum of the text before l->offset, as far as it tells one file
 * from another.  It moves the file's position: call it last, before
 * lines_close().  -1: err tells. */
int lines_mark(const struct lines *l, int64_t *mark, struct err *err);

/* 1: the next line is current; 0: there are no more; -1: err tells. */
int lines_next(struct lines *l, struct err *err);

#endif
