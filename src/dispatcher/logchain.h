/* SPDX-License-Identifier: MIT */
/* logchain.h - the segments of a log, opened when they are needed.  For
 * logfile.h.  One thread. */
#ifndef DISPATCHER_LOGCHAIN_H
#define DISPATCHER_LOGCHAIN_H

#include "dispatcher/logmap.h"

struct logchain {
    char *path;   /* of the log, as it was given */
    char *folder; /* of its segments; NULL: it is read alone */
    uint64_t first, last;
    bool keep;            /* maps, once they were opened */
    struct logmap **maps; /* by number, from `first` on; NULL: not open.  The
                             last one always is. */
};

/* -1: err tells.  logchain_close() in either case. */
int logchain_open(struct logchain *c, const char *path, struct err *err);
void logchain_close(struct logchain *c);

/* Opens it if it is not; borrowed until logchain_leave(). */
struct logmap *logchain_get(struct logchain *c, uint64_t n, struct err *err);
void logchain_leave(struct logchain *c, uint64_t n);

/* As logfile_grow(). */
int logchain_grow(struct logchain *c, struct err *err);

/* How that segment begins, of which there is one; head.head is of no use. */
int logchain_head(const struct logchain *c, uint64_t n,
                  struct segment_head *out, struct err *err);

#endif
