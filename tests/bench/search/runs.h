/* SPDX-License-Identifier: MIT */
/* runs.h - for benchmarks: results, read from lines of JSON.
 *
 *     {"problem": "bbob_f1_d5", "family": "bbob_d5", "solver": "tpe",
 *      "seed": 0, "mode": "seq", "budget": 200, "best": [9.1, 7.2, ...]}
 *
 * `best` holds, after each trial, the true value of the one whose observed
 * value is the best (least) so far, Infinity while all failed, of several costs
 * the share of the ideal hypervolume that is lost; or, where "after": [100,
 * 200] stands beside it, after as many trials alone; `mode` is "seq", or
 * "par:10" with 10 trials at a time; `optimum`, where known, the least of all;
 * `error`, why it ended early.  Other keys are not looked at.  A seed is an
 * instance of the problem.  Any thread, one at a time. */
#ifndef BENCH_SEARCH_RUNS_H
#define BENCH_SEARCH_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct run {
    size_t problem, family, solver; /* indexes of names */
    uint64_t seed;
    bool peer;
    char *error;    /* or NULL */
    double optimum; /* NaN: not known */
    double *best;
    size_t n_best;
};

struct names {
    char **text;
    size_t n;
};

struct runs {
    struct run *v;
    size_t n, cap;
    struct names problems, families, solvers;
};

void runs_init(struct runs *r);
void runs_fini(struct runs *r);

/* Adds those of one mode.  A peer's solver is called peer/NAME.  Lines that
 * are no results are stepped over; -1: the file cannot be read. */
int runs_read(struct runs *r, const char *path, const char *mode, bool peer,
              struct err *err);

/* By problem, seed and solver; of several the longest first. */
void runs_sort(struct runs *r);

/* SIZE_MAX: no such name. */
size_t names_find(const struct names *n, const char *text);

#endif
