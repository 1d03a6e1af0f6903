/* SPDX-License-Identifier: MIT */
/* judge.h - for benchmarks: an assessor, in this process.  One thread. */
#ifndef BENCH_BUDGETS_JUDGE_H
#define BENCH_BUDGETS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct judge;
struct plugin;

/* The plugin is borrowed; NULL: err. */
struct judge *judge_new(const struct plugin *p, const char *args,
                        struct err *err);
void judge_free(struct judge *j);

/* Whether trial `id`, which has reported these, is to stop; *slot is its own,
 * NULL at first. */
int judge_assess(struct judge *j, uint64_t id, const double *values, size_t n,
                 void **slot, bool *stop, struct err *err);
void judge_ended(struct judge *j, uint64_t id, const double *values, size_t n,
                 void **slot, int how);

#endif
