/* SPDX-License-Identifier: MIT */
/* lanes.h - linear algebra on NUM_LANES vectors at a time, side by side: item
 * i of vector k is [i * NUM_LANES + k].  What is read once serves all of them,
 * and none waits for the sum of another: some three times as fast as one
 * after the other.
 *
 * As linear.h says: the same bits on every machine, for ever; nothing is
 * allocated; any thread.  `stride` is what lies between the rows of a matrix.
 */
#ifndef NUMERICS_LANES_H
#define NUMERICS_LANES_H

#include <stddef.h>

enum { NUM_LANES = 8 };

/* B takes the place of what solves L X = B, L^T X = B; n rows of lanes. */
void num_lanes_lower_solve(const double *l, size_t stride, size_t n, double *b);
void num_lanes_upper_solve(const double *l, size_t stride, size_t n, double *b);

/* out: of each lane the sum of weight[i] (x[i] - c[i])^2; c: n rows. */
void num_lanes_distance(const double *x, const double *weight, const double *c,
                        size_t n, double *out);

/* g += factor (c - x) for each of n rows; factor: of each lane. */
void num_lanes_pull(const double *x, const double *c, const double *factor,
                    size_t n, double *g);

/* g[i] += the sum over lanes of factor (c[i] - x[i])^2. */
void num_lanes_spread(const double *x, const double *c, const double *factor,
                      size_t n, double *g);

/* sum += a b, and a item by item, of each lane; n rows, `a` one number each.
 */
void num_lanes_dot(const double *a, const double *b, size_t n, double *sum);

/* sum += b b, of each lane. */
void num_lanes_square(const double *b, size_t n, double *sum);

#endif
