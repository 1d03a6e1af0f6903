/* SPDX-License-Identifier: MIT */
/* spaces.h - one search space of every kind that a tuner may meet, and those
 * that have hardly a point. */
#ifndef CHECK_SPACES_H
#define CHECK_SPACES_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct space;

struct space_to_try {
    const char *title;
    struct space *space;
    bool may_fail; /* it may be hard to find a point, or a new one */
};

struct spaces {
    struct space_to_try at[32];
    size_t n;
};

/* Each kind of dimension alone, mixed, nested, degenerate, empty, a thousand
 * dimensions; the first is the mixed one.  -1: out of memory; spaces_fini() in
 * any case. */
int spaces_init(struct spaces *s, struct err *err);

/* Those whose values are beyond the doubles, all the same, or one point in
 * many guises: who draws until a new point is accepted draws for ever. */
int spaces_init_extreme(struct spaces *s, struct err *err);

void spaces_fini(struct spaces *s);

#endif
