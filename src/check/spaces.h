/* SPDX-License-Identifier: MIT */
/* spaces.h - one search space of every kind that a tuner may meet. */
#ifndef CHECK_SPACES_H
#define CHECK_SPACES_H

#include <stddef.h>

struct err;
struct space;

struct spaces {
    struct {
        const char *title;
        struct space *space;
    } at[24];
    size_t n;
};

/* Each kind of dimension alone, mixed, nested, degenerate, empty, a thousand
 * dimensions; the first is the mixed one.  -1: out of memory; spaces_fini() in
 * any case. */
int spaces_init(struct spaces *s, struct err *err);
void spaces_fini(struct spaces *s);

#endif
