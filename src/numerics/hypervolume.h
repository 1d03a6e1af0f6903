/* SPDX-License-Identifier: MIT */
/* hypervolume.h - how much of the space of costs a set of points dominates up
 * to a reference point, exactly.
 *
 * L. While, L. Bradstreet, L. Barone, "A Fast Way of Calculating Exact
 * Hypervolumes", 2012, a dimension less at each level; a sweep in two
 * dimensions and in three (N. Beume, C. M. Fonseca and others, "On the
 * Complexity of Computing the Hypervolume Indicator", 2009).
 *
 * `costs` are n rows of n_costs numbers, 1 to HYPERVOLUME_COSTS_MAX; less is
 * better.  A volume is in the product of their units.  A row that is not
 * better than `reference` in each cost, or has a NaN, adds nothing; so does one
 * like another.  Of a row with -infinity that adds something that is infinite.
 * The order of the rows does not matter, to the bit.
 *
 * O(n log n) with one cost or two, O(n^2) at worst with three; with more it may
 * grow like n^(n_costs - 2).  Nothing is kept.  Any thread.  The same bits on
 * every machine.  Functions return 0, or -1: out of memory. */
#ifndef NUMERICS_HYPERVOLUME_H
#define NUMERICS_HYPERVOLUME_H

#include <stddef.h>

#define HYPERVOLUME_COSTS_MAX 8

/* *out: the volume. */
int hypervolume(const double *costs, size_t n, size_t n_costs,
                const double *reference, double *out);

/* *out: what the volume of the rows grows by with one more, `point`. */
int hypervolume_gain(const double *costs, size_t n, size_t n_costs,
                     const double *reference, const double *point, double *out);

/* out[i]: what of the volume row i alone has. */
int hypervolume_contributions(const double *costs, size_t n, size_t n_costs,
                              const double *reference, double *out);

#endif
