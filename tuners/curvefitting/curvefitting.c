/* SPDX-License-Identifier: MIT */
#include "curvefitting/curvefitting.h"

#include <math.h>
#include <stdlib.h>

static double
turned(const struct curvefitting *c, double value)
{
    return c->maximize ? value : -value;
}

static size_t
gap(const struct curvefitting *c, size_t n, size_t judged)
{
    size_t quarter = judged / 4;

    return (double)n <= c->target || quarter < c->gap ? c->gap : quarter;
}

static enum curvefitting_reason
why_not(const struct curvefitting *c, const double *values, size_t n,
        size_t judged)
{
    if (!c->has_best)
        return CURVEFITTING_NO_BEST;
    if (n < c->start_step)
        return CURVEFITTING_EARLY;
    if (judged > 0 && n - judged < gap(c, n, judged))
        return CURVEFITTING_GAP;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return CURVEFITTING_NOT_FINITE;
    return CURVEFITTING_JUDGED;
}

static int
predict_turned(const struct curvefitting *c, const double *values, size_t n,
               const struct predict_random *random, struct prediction *out)
{
    double *y;
    int rc;

    if (c->maximize)
        return predict(values, n, c->target, random, out);
    y = calloc(n, sizeof *y);
    if (y == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        y[i] = -values[i];
    rc = predict(y, n, c->target, random, out);
    free(y);
    return rc;
}

int
curvefitting_assess(const struct curvefitting *c, const double *values,
                    size_t n, size_t *judged,
                    const struct predict_random *random,
                    struct curvefitting_verdict *out)
{
    double limit = c->best - (1 - c->threshold) * fabs(c->best);

    *out = (struct curvefitting_verdict){
        .predicted = NAN, .limit = NAN, .best = turned(c, c->best)};
    out->reason = why_not(c, values, n, *judged);
    if (out->reason != CURVEFITTING_JUDGED)
        return 0;
    if (predict_turned(c, values, n, random, &out->prediction) != 0)
        return -1;
    *judged = n;
    if (isnan(out->prediction.value)) {
        out->reason = CURVEFITTING_NO_PREDICTION;
        return 0;
    }
    if (c->best > 0)
        limit = c->threshold * c->best; /* NNI's bits */
    out->predicted = turned(c, out->prediction.value);
    out->limit = turned(c, limit);
    out->stop = !(out->prediction.value > limit);
    return 0;
}

void
curvefitting_succeeded(struct curvefitting *c, const double *values, size_t n)
{
    double last = turned(c, values[n - 1]);

    if (!isfinite(last) || (c->has_best && last <= c->best))
        return;
    c->best = last;
    c->has_best = true;
}
