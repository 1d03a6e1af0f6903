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

/* The probability that a sum of positive signed ranks of n pairs is at most
 * `sum`, when the sign of each pair is a coin (Wilcoxon 1945).  Exact to 60
 * pairs, then by the normal approximation. */
double paired_tail(size_t n, long sum);

/* The largest sum with a tail of at most `level` / 2.  -1: there is none, as
 * below 6 pairs at 0.05. */
long paired_critical(size_t n, double level);

struct paired {
    size_t wins, ties, losses; /* differences below, at and above 0 */
    double shift;              /* the median of the means of all two pairs
                                  (Hodges and Lehmann 1963) */
    bool has_interval;
    double low, high; /* its interval: Wilcoxon's test, turned round */
    double p; /* at most `level`, just where the interval leaves out 0 */
};

/* Of n differences, n >= 1; the interval misses the shift with a probability
 * of `level`.  -1: out of memory. */
int paired_compare(const double *differences, size_t n, double level,
                   struct paired *out);

/* Holm's levels (1979) for n p-values of which one at most is to be wrong with
 * a probability of `level`: a difference is one where p <= out[i]. */
void paired_holm(const double *p, size_t n, double level, double *out);

#endif
