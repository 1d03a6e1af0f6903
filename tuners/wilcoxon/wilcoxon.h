/* SPDX-License-Identifier: MIT */
/* wilcoxon.h - a trial is stopped when the signed-rank test says that it is
 * worse than the best completed trial, step by step: for trials whose steps
 * are the same folds, instances or seeds in each of them, and whose result is
 * the mean; Optuna's WilcoxonPruner.
 *
 * - The best trial is the one, of those that succeeded with finite values
 *   alone, whose mean is best; the first of equals.
 * - Its values and the running trial's are compared in pairs, as far as both
 *   have them.  Nothing is judged before `start_step` pairs, nor a trial that
 *   has reported something that is not finite.
 * - It is stopped when the probability to see so much the worse pairs by
 *   chance is less than p_threshold, unless its mean over the pairs is as good
 *   as the best trial's.
 *
 * Cost: a judgement is O(n log n) in the pairs, up to 50 pairs O(n^3).
 * Memory: 8 bytes for each value of the best trial.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef WILCOXON_WILCOXON_H
#define WILCOXON_WILCOXON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wilcoxon {
    bool maximize;
    double p_threshold;
    size_t start_step;

    double *best; /* the best trial's values; NULL: there is none */
    size_t n_best;
    double mean;    /* of best */
    uint64_t trial; /* its number */
};

enum wilcoxon_reason {
    WILCOXON_JUDGED,
    WILCOXON_NO_BEST,
    WILCOXON_EARLY,
    WILCOXON_NOT_FINITE,
    WILCOXON_MEAN_IS_BEST /* worse by the test, but not on average */
};

struct wilcoxon_verdict {
    enum wilcoxon_reason reason;
    bool stop;
    double p;
    size_t pairs;
    double mean, best_mean; /* over the pairs: the trial's, the best's */
};

/* Frees the best trial's values. */
void wilcoxon_fini(struct wilcoxon *w);

/* A running trial has reported values[0..n-1].  -1 when out of memory. */
int wilcoxon_assess(const struct wilcoxon *w, const double *values, size_t n,
                    struct wilcoxon_verdict *out);

/* A trial has succeeded; n > 0.  -1 when out of memory: it does not count. */
int wilcoxon_succeeded(struct wilcoxon *w, uint64_t trial, const double *values,
                       size_t n);

#endif
