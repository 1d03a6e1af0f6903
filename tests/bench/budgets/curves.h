/* SPDX-License-Identifier: MIT */
/* curves.h - for benchmarks: problems with learning curves, minimized.
 *
 * Of our own, over seven parameters of a training, a seed being an instance:
 *
 *   aligned    what is ahead early is ahead late
 *   crossing   what is best in the end learns slowly
 *   noisy      as aligned, but what is observed is off by some
 *   diverging  what learns fastest gets worse again
 *
 * Of our own, too, all of it drawn by the seed (drawn.h):
 *
 *   even       how fast is learned has nothing to do with what is best
 *   crossed    what is best in the end learns slowly
 *   restless   much noise, and now and then a value that is far off
 *   late       nothing is learned at first, up to half of a curve
 *   plateaus   some stay at a higher level for a while
 *   overfit    some get worse again, what is best learns fast
 *
 * Any other name is a problem of the command that curves_open() is given: it
 * is run by sh with the name and the seed as arguments, writes one line,
 *
 *     {"space": {...}, "longest": 52}
 *
 * and then, for each line of parameters that it reads, one with an array of
 * `longest` values.  One thread. */
#ifndef BENCH_BUDGETS_CURVES_H
#define BENCH_BUDGETS_CURVES_H

#include "drawn.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct err;
struct space;

enum { CURVES_MAX = 1024 }; /* values of a curve */

struct curves {
    const char *name;
    uint64_t seed;
    struct space *space;
    uint64_t longest;               /* values of a whole curve */
    double optimum;                 /* the least there can be; NaN: not known */
    const struct curves_kind *kind; /* NULL: another's */
    struct drawn drawn;             /* its kind is NULL: another's */
    double best[8]; /* where the optimum lies, in ranges of the parameters */
    pid_t pid;      /* of the command */
    FILE *to, *from;
};

/* The names of our own, the i-th; NULL: there are no more. */
const char *curves_list(size_t i);

/* -1: err; curves_close() is to be called in any case. */
int curves_open(struct curves *c, const char *name, uint64_t seed,
                const char *command, struct err *err);
void curves_close(struct curves *c);

/* The curve of a point: what a trial reports after each epoch, and what is
 * true. */
int curves_at(struct curves *c, const double *x, double *observed,
              double *truth, struct err *err);

#endif
