/* SPDX-License-Identifier: MIT */
/* DESIGN.  Powers of x are exponentials of multiples of ln x, which is known
 * beforehand, and exponentials are taken of whole arrays: ten times as fast as
 * one num_pow() after the other, which most of a fit's time would go to.
 * Where the base may be negative there is no such way. */
#include "curvefitting/curves.h"

#include "curvefitting/leastsquares.h"
#include "batch.h"
#include "elementary.h"

#include <string.h>

/* out = (scale x)^exponent. */
static void
power(const struct curve_places *q, double scale, double exponent, double *out)
{
    double shift = num_log(scale);

    if (!(scale > 0)) {
        for (size_t i = 0; i < q->n; i++)
            out[i] = num_pow(scale * q->x[i], exponent);
        return;
    }
    for (size_t i = 0; i < q->n; i++)
        out[i] = exponent * (shift + q->ln_x[i]);
    num_exp_n(out, out, q->n);
}

static void
vap(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] + p[1] / q->x[i] + p[2] * q->ln_x[i];
    num_exp_n(out, out, q->n);
}

static void
pow3(const struct curve_places *q, const double *p, double *out)
{
    power(q, 1, -p[2], out);
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] - p[1] * out[i];
}

static void
linear(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] * q->x[i] + p[1];
}

static void
logx_linear(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] * q->ln_x[i] + p[1];
}

static void
dr_hill_zero_background(const struct curve_places *q, const double *p,
                        double *out)
{
    double half = num_pow(p[2], p[1]);

    power(q, 1, p[1], out);
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] * out[i] / (half + out[i]);
}

static void
log_power(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[2] * (q->ln_x[i] - p[1]);
    num_exp_n(out, out, q->n);
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] / (1 + out[i]);
}

static void
pow4(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[3] - num_pow(p[1] * q->x[i] + p[2], -p[0]);
}

static void
mmf(const struct curve_places *q, const double *p, double *out)
{
    power(q, p[2], p[3], out);
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] - (p[0] - p[1]) / (1 + out[i]);
}

static void
exp4(const struct curve_places *q, const double *p, double *out)
{
    power(q, 1, p[3], out);
    for (size_t i = 0; i < q->n; i++)
        out[i] = -p[1] * out[i] + p[2];
    num_exp_n(out, out, q->n);
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] - out[i];
}

static void
ilog2(const struct curve_places *q, const double *p, double *out)
{
    for (size_t i = 0; i < q->n; i++)
        out[i] = p[0] - p[1] / q->ln_x[i];
}

/* out = a - (a - b) e^(-factor out) */
static void
saturate(size_t n, double a, double b, double factor, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] *= -factor;
    num_exp_n(out, out, n);
    for (size_t i = 0; i < n; i++)
        out[i] = a - (a - b) * out[i];
}

static void
weibull(const struct curve_places *q, const double *p, double *out)
{
    power(q, p[2], p[3], out);
    saturate(q->n, p[0], p[1], 1, out);
}

static void
janoschek(const struct curve_places *q, const double *p, double *out)
{
    power(q, 1, p[3], out);
    saturate(q->n, p[0], p[1], p[2], out);
}

#define CURVE(f, n, ...)                                                  \
    {                                                                     \
        .name = #f, .n_params = (n), .at = (f), .params = { __VA_ARGS__ } \
    }

const struct curve curves[N_CURVES] = {
    CURVE(vap, 3, -0.622028, -0.470050, 0.042322),
    CURVE(pow3, 3, 0.84, 0.52, 0.01),
    CURVE(linear, 2, 1, 0),
    CURVE(logx_linear, 2, 0.378106, 0.046506),
    CURVE(dr_hill_zero_background, 3, 0.772320, 0.586449, 2.460843),
    CURVE(log_power, 3, 0.77, 2.98, -0.51),
    CURVE(pow4, 4, 0.1, 200, 0, 0.8),
    CURVE(mmf, 4, 0.7, 0.1, 0.01, 5),
    CURVE(exp4, 4, 0.7, 0.8, -0.8, 0.3),
    CURVE(ilog2, 2, 0.78, 0.43),
    CURVE(weibull, 4, 0.7, 0.1, 0.01, 1),
    CURVE(janoschek, 4, 0.73, 0.07, 0.355, 0.46),
};

double
curve_value(size_t k, double x, const double *p)
{
    double ln_x = num_log(x), value;
    struct curve_places place = {&x, &ln_x, 1};

    curves[k].at(&place, p, &value);
    return value;
}

struct data {
    const struct curve *curve;
    const struct curve_places *places;
    const double *y;
};

static void
residuals(void *ctx, const double *p, double *r, size_t m)
{
    const struct data *d = ctx;

    d->curve->at(d->places, p, r);
    for (size_t i = 0; i < m; i++)
        r[i] -= d->y[i];
}

int
curve_fit(size_t k, const struct curve_places *places, const double *y,
          double *p, double *work)
{
    struct data d = {&curves[k], places, y};
    double from[CURVE_PARAMS_MAX] = {1, 1, 1, 1};

    memcpy(p, curves[k].params, sizeof curves[k].params);
    if (places->n < curves[k].n_params ||
        leastsquares(residuals, &d, from, curves[k].n_params, places->n,
                     work) != 0)
        return -1;
    memcpy(p, from, sizeof from);
    return 0;
}
