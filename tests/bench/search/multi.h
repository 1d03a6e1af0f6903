/* SPDX-License-Identifier: MIT */
/* multi.h - for benchmarks: problems with several costs, whose least reachable
 * costs, and so the hypervolume that nobody exceeds, are known beforehand.
 *
 * E. Zitzler, K. Deb, L. Thiele, "Comparison of Multiobjective Evolutionary
 * Algorithms", 2000 (zdt1 to zdt6); K. Deb, L. Thiele, M. Laumanns, E. Zitzler,
 * "Scalable Test Problems for Evolutionary Multiobjective Optimization", 2005
 * (dtlz2_m2 to dtlz7_m4); H. Jain, K. Deb, "An Evolutionary Many-Objective
 * Optimization Algorithm [...] Part II", 2014 (c2dtlz2).  An instance of those
 * is the problem itself; of our own ones, with choices and branches, it is
 * drawn from its number.  Any thread. */
#ifndef BENCH_SEARCH_MULTI_H
#define BENCH_SEARCH_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MULTI_COSTS_MAX 4

struct dim;
struct multi;
struct point;

/* By index, until NULL. */
const char *multi_name(size_t index);
const char *multi_family(size_t index); /* "zdt", "dtlz", "mixed" ... */

/* NULL: no such name, or out of memory.  The caller frees. */
struct multi *multi_new(const char *name, uint64_t instance);
void multi_free(struct multi *m);

const struct dim *multi_dims(const struct multi *m); /* lent, as the next */
size_t multi_n_costs(const struct multi *m);
const double *multi_reference(const struct multi *m);

/* The hypervolume up to the reference that all points of the space have
 * together, but for at most a millionth. */
double multi_ideal(const struct multi *m);

/* Whether some points are beyond a limit. */
bool multi_is_limited(const struct multi *m);

/* Of a point of the space: its costs, less is better, and how far it is beyond
 * the limit; 0: within it. */
void multi_values(const struct multi *m, const struct point *p, double *costs,
                  double *beyond);

#endif
