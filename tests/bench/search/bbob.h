/* SPDX-License-Identifier: MIT */
/* bbob.h - for benchmarks: the noiseless BBOB functions of odd number, from
 * Hansen, Finck, Ros and Auger, "Real-Parameter Black-Box Optimization
 * Benchmarking 2009: Noiseless Functions Definitions", INRIA RR-6829.
 *
 * Shifts and rotations are drawn as that suite draws them, so that results of
 * others on the same function, dimension and instance can stand beside ours.
 * Any thread. */
#ifndef BENCH_SEARCH_BBOB_H
#define BENCH_SEARCH_BBOB_H

#include <stddef.h>
#include <stdint.h>

#define BBOB_DIMS_MAX 40

struct bbob;

/* NULL: `number` is not odd within 1 ... 23, or n_dims not within 2 ...
 * BBOB_DIMS_MAX, or out of memory.  The caller frees. */
struct bbob *bbob_new(int number, size_t n_dims, uint64_t instance);
void bbob_free(struct bbob *b);

/* x has n_dims numbers of -5 ... 5; less is better. */
double bbob_value(const struct bbob *b, const double *x);
double bbob_optimum(const struct bbob *b);
/* A point where it is reached. */
const double *bbob_optimal(const struct bbob *b);

#endif
