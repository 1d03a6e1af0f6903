/* SPDX-License-Identifier: MIT */
#include "wilcoxon/wilcoxon.h"

#include "wilcoxon/signedrank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
wilcoxon_fini(struct wilcoxon *w)
{
    free(w->best);
    w->best = NULL;
}

/* The mean of n > 0 values. */
static double
mean_of(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static bool
all_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* On average as good in the pairs, or better. */
static bool
mean_is_best(const struct wilcoxon *w, const struct wilcoxon_verdict *v)
{
    return w->maximize ? v->mean >= v->best_mean : v->mean <= v->best_mean;
}

/* By how much the trial is worse, pair by pair. */
static double
test(const struct wilcoxon *w, const double *values, size_t pairs)
{
    double *d = calloc(pairs, sizeof *d), p;

    if (d == NULL)
        return NAN;
    for (size_t i = 0; i < pairs; i++) {
        d[i] = w->maximize ? w->best[i] - values[i] : values[i] - w->best[i];
        if (!isfinite(d[i])) /* of two finite values: too far apart */
            d[i] = d[i] > 0 ? HUGE_VAL : -HUGE_VAL;
    }
    p = signedrank_greater(d, pairs);
    free(d);
    return p;
}

int
wilcoxon_assess(const struct wilcoxon *w, const double *values, size_t n,
                struct wilcoxon_verdict *out)
{
    *out = (struct wilcoxon_verdict){.p = NAN, .mean = NAN, .best_mean = NAN};
    if (w->best == NULL) {
        out->reason = WILCOXON_NO_BEST;
        return 0;
    }
    out->pairs = n < w->n_best ? n : w->n_best;
    if (out->pairs < w->start_step || out->pairs == 0) {
        out->reason = WILCOXON_EARLY;
        return 0;
    }
    if (!all_finite(values, n)) {
        out->reason = WILCOXON_NOT_FINITE;
        return 0;
    }
    out->mean = mean_of(values, out->pairs);
    out->best_mean = mean_of(w->best, out->pairs);
    out->p = test(w, values, out->pairs);
    if (isnan(out->p))
        return -1;
    out->stop = out->p < w->p_threshold;
    if (out->stop && mean_is_best(w, out)) {
        out->reason = WILCOXON_MEAN_IS_BEST;
        out->stop = false;
    }
    return 0;
}

int
wilcoxon_succeeded(struct wilcoxon *w, uint64_t trial, const double *values,
                   size_t n)
{
    double mean = mean_of(values, n), *best;

    if (!all_finite(values, n) || isnan(mean) ||
        (w->best != NULL && (w->maximize ? mean <= w->mean : mean >= w->mean)))
        return 0;
    best = malloc(n * sizeof *best);
    if (best == NULL)
        return -1;
    memcpy(best, values, n * sizeof *best);
    free(w->best);
    w->best = best;
    w->n_best = n;
    w->mean = mean;
    w->trial = trial;
    return 0;
}
