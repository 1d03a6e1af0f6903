/* SPDX-License-Identifier: MIT */
/* scalar.h - several values made one, of which less is better, for a plugin
 * that takes one alone.
 *
 * The cost of an objective is its value, negated where higher is better.
 * u_i is the cost of objective i over the range of the finite costs so far,
 * this one included: 0 at the best, 1 at the worst, 0 while all are the same,
 * -1 and 2 where it is infinite.  w_i are the weights, of which the sum is 1.
 *
 *   chebyshev      max(w_i u_i) + 0.05 sum(w_i u_i), i = 1..n
 *   weights        sum(w_i u_i)
 *   lexicographic  sum(q_i / L^i), q_i = round((L - 1) (u_i + 1) / 3),
 *                  L = 2^floor(48 / n): costs tie that differ by less than
 *                  3 / L of the range; each sum is exact
 *
 * That is at most 2.1.  A result beyond the limits by v is 3 + v / (1 + v),
 * whatever its objectives are: worse than all within, the farther the worse.
 * NaN where an objective is NaN, which a plugin knows from single values.
 *
 * Nothing told before is told anew when a range grows.  One thread at a time.
 */
#ifndef PLUGIN_SCALAR_H
#define PLUGIN_SCALAR_H

#include "objectives/objectives.h"

struct buf;
struct unpack;

struct scalar {
    const struct objectives *objectives;              /* borrowed */
    double low[OBJECTIVES_MAX], high[OBJECTIVES_MAX]; /* of costs so far; low
                                                         above high: none */
};

void scalar_init(struct scalar *s, const struct objectives *o);

/* What is made of a result, whose values widen the ranges. */
double scalar_take(struct scalar *s, const double *values, double violation);

/* Packs the ranges, and reads them, as pack.h says; -1: damaged. */
void scalar_save(const struct scalar *s, struct buf *out);
int scalar_load(struct scalar *s, struct unpack *in);

#endif
