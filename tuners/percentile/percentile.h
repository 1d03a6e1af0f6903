/* SPDX-License-Identifier: MIT */
/* percentile.h - a trial is stopped when the best value it has reported is
 * worse than a percentile of what completed trials had at the same step;
 * Optuna's PercentilePruner, of which the median pruner is the 50th, and, with
 * running averages, the median stopping rule of medianstop.h.
 *
 * - `percentile` is the share that goes on: 25 keeps the best quarter.
 * - Only trials that succeeded count; NaN values of theirs do not.
 * - Between two values the percentile is interpolated as NumPy does by default.
 * - As good as the percentile is good enough.  A trial whose values are all
 *   NaN is stopped, as soon as there is something to be held against.
 *
 * Cost: a judgement is O(values of the trial), a completed trial moves half of
 * the completed values of each of its steps.  Memory: 8 bytes for each value
 * of each completed trial, up to 12 while a table has room to grow.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef PERCENTILE_PERCENTILE_H
#define PERCENTILE_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_sink;
struct tp_source;

struct percentile_rule {
    bool maximize;
    bool averages;           /* of completed trials, instead of values */
    double percentile;       /* 0 to 100 */
    size_t start_step;       /* values before a trial is judged */
    size_t interval;         /* judged at start_step, + interval, ... */
    uint64_t startup_trials; /* that have to complete before any is judged */
    size_t min_trials;       /* that have to have a value at the step */
};

/* What completed trials had at one step, ascending. */
struct percentile_step {
    double *values;
    size_t n, cap;
};

/* Members are percentile.c's. */
struct percentile {
    struct percentile_rule rule;
    struct percentile_step *steps;
    size_t n_steps;
    uint64_t n_completed;
};

enum percentile_reason {
    PERCENTILE_JUDGED,
    PERCENTILE_FEW_TRIALS,
    PERCENTILE_EARLY,
    PERCENTILE_BETWEEN, /* two judgements */
    PERCENTILE_FEW_AT_STEP
};

struct percentile_verdict {
    enum percentile_reason reason;
    bool stop;
    double best, limit;
    size_t trials; /* limit is the percentile of so many */
};

/* NULL when out of memory. */
struct percentile *percentile_new(const struct percentile_rule *rule);
void percentile_free(struct percentile *p);

/* A running trial has reported values[0..n-1], of which it had reported
 * `seen` when it was assessed before. */
void percentile_assess(const struct percentile *p, const double *values,
                       size_t n, size_t seen, struct percentile_verdict *out);

/* A trial has succeeded.  -1 when out of memory: it then does not count. */
int percentile_succeeded(struct percentile *p, const double *values, size_t n);

/* Of v[0..n-1], ascending, n > 0. */
double percentile_of(const double *v, size_t n, double percentile);

/* Of what completed trials had at their n-th value, n > 0; NaN: none had any.
 */
double percentile_at(const struct percentile *p, size_t n, double percentile);

/* The completed trials, as values in a row. */
void percentile_save(const struct percentile *p, const struct tp_sink *sink);

/* Into a new one.  NULL, or what was wrong; then p may only be freed. */
const char *percentile_load(struct percentile *p,
                            const struct tp_source *source);

#endif
