/* SPDX-License-Identifier: MIT */
/* patience.h - a trial is stopped when the best of its last values is no
 * better than the best of those before.  Knows no plugin interface; any
 * thread. */
#ifndef PATIENCE_PATIENCE_H
#define PATIENCE_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>

struct patience {
    bool maximize;
    size_t patience;   /* the last so many values, from 1 */
    double min_delta;  /* better by more than this is better */
    size_t start_step; /* values before a trial is judged */
};

struct patience_verdict {
    bool stop, judged;
    double before, after; /* the best of each; NaN: there is none */
    size_t at;            /* where `before` is, from 1 */
};

/* A trial has reported values[0..n-1].  O(n). */
struct patience_verdict patience_assess(const struct patience *p,
                                        const double *values, size_t n);

#endif
