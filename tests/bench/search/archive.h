/* SPDX-License-Identifier: MIT */
/* archive.h - for benchmarks: the front of a run with several costs, and the
 * hypervolume that it has reached.  One owner. */
#ifndef BENCH_SEARCH_ARCHIVE_H
#define BENCH_SEARCH_ARCHIVE_H

#include <stddef.h>

struct archive {
    size_t n_costs;
    const double *reference; /* n_costs, lent */
    double *costs;           /* n rows that dominate each other nowhere */
    size_t n, cap;
    double volume;
};

void archive_init(struct archive *a, size_t n_costs, const double *reference);
void archive_fini(struct archive *a);

/* Less is better.  -1: out of memory. */
int archive_add(struct archive *a, const double *costs);

#endif
