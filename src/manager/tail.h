/* SPDX-License-Identifier: MIT */
/* tail.h - the lines of a file that another process still appends to.  What
 * lies behind the last line end is not there yet.  One thread. */
#ifndef MANAGER_TAIL_H
#define MANAGER_TAIL_H

#include "core/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct tail {
    int fd;        /* -1: not open */
    struct buf in; /* the unfinished line */
    size_t max_line;
    int64_t base; /* where `in` begins in the file */
    int64_t at;  /* where the line that is handed out ends in the file, its line
                    end included */
    int64_t end; /* where tail_drain() stops; 0: not asked yet */
    bool skipping;  /* in a line that is too long */
    bool ended;     /* a pipe: nobody can write any more */
    uint64_t lines; /* handed out, the too long ones included */
};

/* One line without its line end, NUL-terminated, valid during the call.
 * too_long: its first bytes only. */
typedef void tail_line(void *ctx, const char *line, size_t len, bool too_long);

/* Opens an existing file; max_line counts the line end. */
int tail_open(struct tail *t, const char *path, size_t max_line,
              struct err *err);
/* Takes the reading end of a pipe, which does not block, in place of a file. */
void tail_attach(struct tail *t, int fd, size_t max_line);
void tail_close(struct tail *t); /* a closed one too */

/* Reads about max_bytes at most and hands out the finished lines.  Returns 1
 * when there may be more, 0 at the end of the file, -1 on failure. */
int tail_read(struct tail *t, size_t max_bytes, tail_line *take, void *ctx,
              struct err *err);

/* Reads what the file held at the first call, however fast it still grows,
 * about max_bytes of it at most.  Returns like tail_read(). */
int tail_drain(struct tail *t, size_t max_bytes, tail_line *take, void *ctx,
               struct err *err);

/* The writer is gone: what lies behind the last line end is a line as well. */
void tail_rest(struct tail *t, tail_line *take, void *ctx);

#endif
