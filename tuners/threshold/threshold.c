/* SPDX-License-Identifier: MIT */
#include "threshold/threshold.h"

#include <math.h>

static enum threshold_reason
judge(const struct threshold *t, double value)
{
    if (isnan(value))
        return THRESHOLD_NAN;
    if (value < t->lower)
        return THRESHOLD_BELOW;
    return value > t->upper ? THRESHOLD_ABOVE : THRESHOLD_WITHIN;
}

struct threshold_verdict
threshold_assess(const struct threshold *t, const double *values, size_t n,
                 size_t seen)
{
    size_t first = t->start_step > 0 ? t->start_step : 1;
    struct threshold_verdict v = {.reason = n < first ? THRESHOLD_EARLY
                                                      : THRESHOLD_BETWEEN,
                                  .value = NAN};
    size_t step = first;

    if (seen >= first)
        step += ((seen - first) / t->interval + 1) * t->interval;
    for (; step <= n && !v.stop; step += t->interval) {
        v.value = values[step - 1];
        v.step = step;
        v.reason = judge(t, v.value);
        v.stop = v.reason != THRESHOLD_WITHIN;
    }
    return v;
}
