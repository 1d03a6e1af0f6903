/* SPDX-License-Identifier: MIT */
/* curvefitting.h - a trial is stopped when the value that its learning curve
 * is predicted to reach lies below `threshold` times the best value that a
 * completed trial has ended with; NNI's Curvefitting.
 *
 * - Nothing is judged before a trial has succeeded.
 * - A trial is judged from `start_step` values on, and again when it has
 *   reported `gap` more; beyond `target` values, a quarter more at least, so
 * that a trial of any length costs no more than in proportion to its length.
 * - No prediction: it goes on.  So it does when one of its values is not
 *   finite.
 * - The best is of the last intermediate values of trials that succeeded.
 * - Lower is better: values are turned.  Where the best is negative (or turned)
 *   the threshold leaves (1 - threshold) of its size as room, which is the same
 *   where it is positive.
 *
 * Cost: a judgement fits twelve curves, one or two milliseconds for 20 values,
 * in proportion to their number.  Memory: 8 bytes.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef CURVEFITTING_CURVEFITTING_H
#define CURVEFITTING_CURVEFITTING_H

#include "curvefitting/predict.h"

#include <stdbool.h>

struct curvefitting {
    bool maximize;
    double target, threshold;
    size_t start_step, gap;
    bool has_best;
    double best; /* higher is better */
};

enum curvefitting_reason {
    CURVEFITTING_JUDGED,
    CURVEFITTING_NO_BEST,
    CURVEFITTING_EARLY,
    CURVEFITTING_GAP,
    CURVEFITTING_NOT_FINITE,
    CURVEFITTING_NO_PREDICTION
};

struct curvefitting_verdict {
    enum curvefitting_reason reason;
    bool stop;
    double predicted, limit, best; /* as reported */
    struct prediction prediction;  /* turned where lower is better */
};

/* A running trial has reported values[0..n-1]; *judged is its number of values
 * when it was judged last, at first 0.  -1 when out of memory. */
int curvefitting_assess(const struct curvefitting *c, const double *values,
                        size_t n, size_t *judged,
                        const struct predict_random *random,
                        struct curvefitting_verdict *out);

/* A trial has succeeded; n > 0. */
void curvefitting_succeeded(struct curvefitting *c, const double *values,
                            size_t n);

#endif
