/* SPDX-License-Identifier: MIT */
/* problems.h - everything that is wrong with one document, told at once.
 * One owner; texts are one line each, `PLACE: what`. */
#ifndef CORE_PROBLEMS_H
#define CORE_PROBLEMS_H

#include "core/buf.h"

struct err;

struct problems {
    size_t count;
    struct buf lines; /* each ends in a newline */
};

void problems_init(struct problems *p);
void problems_fini(struct problems *p);

/* Adds "PLACE: text"; `place` may be "".  After 50 only the count grows. */
void problems_add(struct problems *p, const char *place, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* 0 when there are no problems; else -1 with the first one and their number in
 * err. */
int problems_check(struct problems *p, struct err *err);

/* Puts all problems into err as one line; empties *p; returns -1. */
int problems_join(struct problems *p, struct err *err);

#endif
