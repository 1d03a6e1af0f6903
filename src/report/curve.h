/* SPDX-License-Identifier: MIT */
/* curve.h - the intermediate results of one trial, thinned out so that any
 * number of them takes little memory: every 2^k-th is kept, and the last.
 * A zeroed struct curve is an empty one.  One owner. */
#ifndef REPORT_CURVE_H
#define REPORT_CURVE_H

#include <stddef.h>
#include <stdint.h>

struct curve_point {
    uint64_t step;
    double value; /* NAN: it was no number */
};

struct curve {
    struct curve_point *points;
    size_t n, cap;
    unsigned shift;          /* k */
    uint64_t seen;           /* number of points added */
    struct curve_point last; /* once seen > 0 */
};

/* Points that are kept at most, before the last one. */
#define CURVE_MAX 512

/* Adds a point.  One whose step is not behind the last one removes what it
 * repeats: the trial was started again.  -1: out of memory. */
int curve_add(struct curve *c, uint64_t step, double value);
void curve_fini(struct curve *c);

/* Writes at most `max` >= 2 of the points, the first and the last among them;
 * returns how many. */
size_t curve_thinned(const struct curve *c, size_t max,
                     struct curve_point *out);

#endif
