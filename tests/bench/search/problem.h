/* SPDX-License-Identifier: MIT */
/* problem.h - for benchmarks: an objective to minimize over a search space,
 * found by name ("bbob_f3_d5", "kernels", "kernels_chance"), or several of them
 * ("zdt1"); a seed makes an instance.  Any thread. */
#ifndef BENCH_SEARCH_PROBLEM_H
#define BENCH_SEARCH_PROBLEM_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBLEM_NAME_MAX 32
#define PROBLEM_COSTS_MAX 4

struct buf;
struct err;
struct problem;

/* What becomes of a trial. */
struct outcome {
    double value;                    /* less is better: the true one */
    double observed;                 /* what the trial reports */
    bool failed;                     /* it reports nothing */
    double costs[PROBLEM_COSTS_MAX]; /* of a problem with several: less is
                                        better; value and observed are 0 */
    double beyond;                   /* the limit, if there is one */
};

/* The index-th of all problems with one value, family by family; -1: there are
 * no more.  multi.h lists the others. */
int problem_list(size_t index, char name[PROBLEM_NAME_MAX],
                 char family[PROBLEM_NAME_MAX]);

/* NULL: err says why.  The caller frees. */
struct problem *problem_new(const char *name, uint64_t seed, struct err *err);
void problem_free(struct problem *p);

void problem_write_space(const struct problem *p, struct buf *out);

/* Of the trial-th trial: noise and chance are drawn from the seed and that
 * number alone.  -1: `parameters` is no point of the space; err says why. */
int problem_run(const struct problem *p, uint64_t trial, struct jval parameters,
                struct outcome *out, struct err *err);
double problem_optimum(const struct problem *p);

/* How many costs there are, the worst that still count, and the hypervolume
 * that no set of points exceeds.  1, NULL and 0 where `value` is all. */
size_t problem_n_costs(const struct problem *p);
const double *problem_reference(const struct problem *p);
double problem_ideal(const struct problem *p);

/* Appends what `tunepipe dispatch --objectives` is told of the costs, and what
 * a trial then reports. */
void problem_write_objectives(const struct problem *p, struct buf *out);
void problem_write_costs(const struct problem *p, const struct outcome *of,
                         struct buf *out);

/* Appends where it is reached, as a trial's parameters. */
void problem_write_optimum(const struct problem *p, struct buf *out);

#endif
