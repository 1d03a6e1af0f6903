/* SPDX-License-Identifier: MIT */
/* front.h - which of several vectors of costs are better than others: fronts
 * of those that none dominates, and how crowded each is in its front.
 *
 * K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A Fast and Elitist
 * Multiobjective Genetic Algorithm: NSGA-II", 2002; ranks by the sequential
 * search of X. Zhang, Y. Tian, R. Cheng, Y. Jin, "An Efficient Approach to
 * Nondominated Sorting for Evolutionary Multiobjective Optimization", 2015.
 *
 * `costs` are n rows of n_costs numbers, 1 to FRONT_COSTS_MAX, in any unit;
 * less is better, NaN worse than all numbers, one NaN like another.
 * `violations`, n of them, or NULL: none, are how far rows are beyond limits:
 * 0 or less is within all, NaN farther than all.  The nearer row dominates;
 * of rows equally far the one that is worse in no cost and better in one.
 *
 * Nothing is kept.  Any thread.  The same bits on every machine.  Functions
 * return 0, or -1: out of memory. */
#ifndef NUMERICS_FRONT_H
#define NUMERICS_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRONT_COSTS_MAX 8

/* -1, 0 or 1: a is better than, like, worse than b. */
int front_compare(double a, double b);

/* Whether a dominates b, each with its violation. */
bool front_dominates(const double *a, double violation_a, const double *b,
                     double violation_b, size_t n_costs);

/* ranks[i]: the number of the front that row i is in: 0, the first, has all
 * that no row dominates, each further one those that only rows of the fronts
 * before it dominate.  O(n log n) with one cost or two; with more O(n^2) at
 * worst, where most rows are in one front. */
int front_ranks(const double *costs, const double *violations, size_t n,
                size_t n_costs, uint32_t *ranks);

/* out[i]: Deb's crowding distance of row i among the rows of its rank, more is
 * lonelier: the sum over the costs of the distance between its two neighbours,
 * the whole width of the front being 1.  Infinite at either end.  Of equal rows
 * the first alone counts, and the others have 0; rows of which one cost is
 * equal are neighbours in the order of their numbers.  Next to an infinite cost
 * or NaN is 1 away.  O(n log n). */
int front_crowding(const double *costs, size_t n, size_t n_costs,
                   const uint32_t *ranks, double *out);

/* What one cost adds to that: `rows` are all of one front in its order, but for
 * those that do not count, and their costs lie `stride` apart. */
void front_crowd(const double *costs, size_t stride, const uint32_t *rows,
                 size_t n, double *out);

/* order: the numbers of the rows, best first: by rank; in a front the lonelier
 * one first; then the one of lower number. */
int front_order(const double *costs, const double *violations, size_t n,
                size_t n_costs, uint32_t *order);

#endif
