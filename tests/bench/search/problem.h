/* SPDX-License-Identifier: MIT */
/* problem.h - for benchmarks: an objective to minimize over a search space,
 * found by name ("bbob_f3_d5", "kernels"); a seed makes an instance.  Any
 * thread. */
#ifndef BENCH_SEARCH_PROBLEM_H
#define BENCH_SEARCH_PROBLEM_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

#define PROBLEM_NAME_MAX 32

struct buf;
struct err;
struct problem;

/* The index-th of all problems, family by family; -1: there are no more. */
int problem_list(size_t index, char name[PROBLEM_NAME_MAX],
                 char family[PROBLEM_NAME_MAX]);

/* NULL: err says why.  The caller frees. */
struct problem *problem_new(const char *name, uint64_t seed, struct err *err);
void problem_free(struct problem *p);

void problem_write_space(const struct problem *p, struct buf *out);

/* Less is better.  -1: `parameters` is no point of the space; err says why. */
int problem_value(const struct problem *p, struct jval parameters, double *out,
                  struct err *err);
double problem_optimum(const struct problem *p);

#endif
