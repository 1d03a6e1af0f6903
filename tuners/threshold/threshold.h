/* SPDX-License-Identifier: MIT */
/* threshold.h - a trial is stopped when a value it reports lies beyond a
 * bound, or is NaN; Optuna's ThresholdPruner.  Knows no plugin interface; any
 * thread. */
#ifndef THRESHOLD_THRESHOLD_H
#define THRESHOLD_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>

struct threshold {
    double lower, upper; /* infinite: none */
    size_t start_step;   /* the first value that is judged is this one, from 1;
                            0 is 1 */
    size_t interval;     /* and then each interval-th, from 1 */
};

enum threshold_reason {
    THRESHOLD_EARLY,
    THRESHOLD_BETWEEN, /* two judgements */
    THRESHOLD_WITHIN,
    THRESHOLD_NAN,
    THRESHOLD_BELOW,
    THRESHOLD_ABOVE
};

struct threshold_verdict {
    enum threshold_reason reason;
    bool stop;
    double value; /* the one that decided, or the last judged; else NaN */
    size_t step;  /* its place, from 1; else 0 */
};

/* A trial has reported values[0..n-1], `seen` of them when it was assessed
 * before: each new one that is due is held against the bounds. */
struct threshold_verdict threshold_assess(const struct threshold *t,
                                          const double *values, size_t n,
                                          size_t seen);

#endif
