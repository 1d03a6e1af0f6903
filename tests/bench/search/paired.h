/* SPDX-License-Identifier: MIT */
/* paired.h - for benchmarks: ranks, and how two tuners differ over the same
 * runs.  No random numbers.  Any thread. */
#ifndef BENCH_SEARCH_PAIRED_H
#define BENCH_SEARCH_PAIRED_H

#include <stdbool.h>
#include <stddef.h>

/* The k-th smallest (k < n), which changes the order of v. */
double paired_select(double *v, size_t n, size_t k);

/* n >= 1; changes the order of v.  Of an even number the mean of two. */
double paired_median(double *v, size_t n);

/* out[i] is the rank of v[i], the least is 1; ties share the mean. */
void paired_ranks(const double *v, size_t n, double *out);

/* The largest T such that a sum of positive signed ranks of n pairs is at most
 * T with a probability of at most 0.025, when the sign of each pair is a coin
 * (Wilcoxon 1945).  Exact to 60 pairs, then by the normal approximation.  -1:
 * there is none, as below 6 pairs. */
long paired_critical(size_t n);

struct paired {
    size_t wins, ties, losses; /* differences below, at and above 0 */
    double shift;              /* the median of the means of all two pairs
                                  (Hodges and Lehmann 1963) */
    bool has_interval;
    double low, high; /* its 95 % interval: Wilcoxon's test, turned round */
};

/* Of n differences, n >= 1.  -1: out of memory. */
int paired_compare(const double *differences, size_t n, struct paired *out);

#endif
