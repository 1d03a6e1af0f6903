/* SPDX-License-Identifier: MIT */
/* deadlines.h - when something is to be done, nearest first: a binary heap of
 * deadlines that stand in their owners.  Which of two equal ones comes first is
 * not defined.  One thread. */
#ifndef MANAGER_DEADLINES_H
#define MANAGER_DEADLINES_H

#include <stddef.h>
#include <stdint.h>

/* What is called: `ctx` is who calls deadlines_run(), `of` the owner, who may
 * be freed by it. */
typedef void deadline_due(void *ctx, void *of);

struct deadline {
    int64_t at_ns; /* monotonic */
    deadline_due *due;
    void *of;
    size_t place; /* in the heap, from 1; 0: in none */
};

/* A zeroed one is empty. */
struct deadlines {
    struct deadline **heap;
    size_t n, cap;
};

void deadlines_fini(struct deadlines *d); /* the owners' stay untouched */

/* Sets the deadline, or moves it; INT64_MAX takes it out, which never fails.
 * -1: out of memory, nothing changed. */
int deadlines_set(struct deadlines *d, struct deadline *one, int64_t at_ns);
/* Takes the deadline out, if it is set. */
void deadlines_drop(struct deadlines *d, struct deadline *one);

/* INT64_MAX: there is none. */
int64_t deadlines_nearest(const struct deadlines *d);

/* Takes out each deadline that is due and calls its function, the nearest
 * first; those that are set meanwhile and are due, too. */
void deadlines_run(struct deadlines *d, int64_t now_ns, void *ctx);

#endif
