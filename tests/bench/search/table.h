/* SPDX-License-Identifier: MIT */
/* table.h - for benchmarks: what runs come to after so many trials.
 *
 * The normalized regret of a run is (best - optimum) / (r10 - optimum), where
 * r10 is the median, over the seeds of that problem, of what the baseline had
 * after 10 trials: 1 is as good as 10 random trials, 0 the optimum.  Where no
 * run tells the optimum, it is the least that any run of that instance found.
 * One thread. */
#ifndef BENCH_SEARCH_TABLE_H
#define BENCH_SEARCH_TABLE_H

#include "paired.h"
#include "runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_FLOOR 1e-4  /* less regret is as good as none */
#define TABLE_CEILING 1e4 /* where all trials failed */
#define TABLE_ALL SIZE_MAX

struct table {
    const struct runs *runs;
    size_t n_pairs; /* of problem and seed */
    size_t *problem, *family;
    bool *complete; /* has it runs of all that have runs of the problem? */
    double *regret; /* n_pairs times the number of solvers; NaN: no run */
};

struct standing {
    size_t n;      /* runs */
    double rank;   /* the mean, 1 is best */
    double regret; /* the median */
    bool paired;   /* is there anything to compare with? */
    struct paired against;
};

/* `runs` (lent until table_fini()) are sorted.  `baseline` names a solver; a
 * problem that neither it nor its peer has runs of is left out, as are
 * instances that have none but peers' runs.  -1: out of memory. */
int table_init(struct table *t, const struct runs *runs, size_t trials,
               const char *baseline);
void table_fini(struct table *t);

/* Whether the solver has runs in that family. */
bool table_has(const struct table *t, size_t family, size_t solver);

/* Of one family, or TABLE_ALL; against another solver, SIZE_MAX: none.  Ranks
 * are taken where all that have runs of a problem have one of that seed, and
 * scaled to the number of all that are in the family.  `against.shift` and its
 * interval, which misses it with a probability of `level`, are of
 * log10(regret / regret of the other).  False: no runs there. */
bool table_standing(const struct table *t, size_t family, size_t solver,
                    size_t against, double level, struct standing *out);

#endif
