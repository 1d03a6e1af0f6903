/* SPDX-License-Identifier: MIT */
#include "curvefitting/predict.h"

#include "elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define AGREED_MIN 4
#define CHAINS 10
#define SWEEPS 20
#define STEP 0.0005
#define WORK (CURVE_PARAMS_MAX + 4) /* doubles a value that fits need */
#define PI 3.14159265358979323846

/* What the chains look at: k curves at x = 1..n and at the target. */
struct combination {
    const double *y;
    size_t n, k;
    double *at; /* curve i at x = j + 1: at[i * n + j] */
    double target[N_CURVES];
};

static double
square(double x)
{
    return x * x;
}

/* Step 2's measure. */
static double
standard(const double *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += y[i];
    return square(sum / (double)n) * (double)n;
}

static double
squared_errors(const double *at, const double *y, size_t n)
{
    double sum = 0;

    for (size_t j = 0; j < n; j++)
        sum += square(at[j] - y[j]);
    return sum;
}

static void
sort(double *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double x = v[i];
        size_t j = i;

        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

static double
median(const double *values, size_t n)
{
    double v[N_CURVES];

    memcpy(v, values, n * sizeof *v);
    sort(v, n);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double
deviation(const double *v, size_t n)
{
    double mean = 0, sum = 0;

    for (size_t i = 0; i < n; i++)
        mean += v[i];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        sum += square(v[i] - mean);
    return num_sqrt(sum / (double)n);
}

/* Steps 1 and 2: fills c->at, ->target and out->agreed with those that stay.
 * `work`: n * WORK doubles. */
static void
fit_all(struct combination *c, double target, double *work,
        struct prediction *out)
{
    double limit = standard(c->y, c->n), p[CURVE_PARAMS_MAX];
    double *x = work, *ln_x = work + c->n;
    struct curve_places places = {x, ln_x, c->n};

    for (size_t j = 0; j < c->n; j++) {
        x[j] = (double)(j + 1);
        ln_x[j] = num_log(x[j]);
    }
    for (size_t i = 0; i < N_CURVES; i++) {
        double *at = &c->at[c->k * c->n];

        out->n_fitted += curve_fit(i, &places, c->y, p, work + 2 * c->n) == 0;
        curves[i].at(&places, p, at);
        if (!(squared_errors(at, c->y, c->n) < limit))
            continue;
        out->agreed[c->k] = i;
        c->target[c->k++] = curve_value(i, target, p);
    }
}

/* Step 3. */
static void
agree(struct combination *c, struct prediction *out)
{
    double last[N_CURVES], middle, reach;
    size_t kept = 0;

    for (size_t i = 0; i < c->k; i++)
        last[i] = c->at[i * c->n + c->n - 1];
    if (c->k == 0)
        return;
    middle = median(last, c->k);
    reach = (double)c->n / 10 * deviation(last, c->k);
    for (size_t i = 0; i < c->k; i++) {
        if (!(c->target[i] < middle + reach && c->target[i] > middle - reach))
            continue;
        memmove(&c->at[kept * c->n], &c->at[i * c->n], c->n * sizeof *c->at);
        c->target[kept] = c->target[i];
        out->agreed[kept] = out->agreed[i];
        out->at_target[kept++] = c->target[i];
    }
    c->k = kept;
    out->n_agreed = kept;
}

static double
combined(const struct combination *c, const double *w, size_t j)
{
    double sum = 0;

    for (size_t i = 0; i < c->k; i++)
        sum += w[i] * c->at[i * c->n + j];
    return sum;
}

static double
combined_at_target(const struct combination *c, const double *w)
{
    double sum = 0;

    for (size_t i = 0; i < c->k; i++)
        sum += w[i] * c->target[i];
    return sum;
}

static double
posterior(const struct combination *c, const double *w)
{
    double variance = 0, scale, product = 1;

    for (size_t i = 0; i < c->k; i++)
        if (!(w[i] > 0))
            return 0;
    if (combined(c, w, 0) >= combined_at_target(c, w))
        return 0;
    for (size_t j = 0; j < c->n; j++)
        variance += square(c->y[j] - combined(c, w, j));
    variance /= (double)c->n;
    scale = num_sqrt(2 * PI * num_sqrt(variance));
    for (size_t j = 0; j < c->n; j++)
        product *=
            num_exp(-square(c->y[j] - combined(c, w, j)) / (2 * variance)) /
            scale;
    return product;
}

/* In (0, 1), of 52 bits. */
static double
open_uniform(const struct predict_random *r, uint32_t b, uint32_t draw)
{
    const double two52 = 4503599627370496.0;
    double u = r->uniform(r->ctx, b, draw);

    return ((double)(uint64_t)(u * two52) + 0.5) / two52;
}

/* One sweep of one chain; b numbers both. */
static void
move(const struct combination *c, double *w, const struct predict_random *r,
     uint32_t b)
{
    double next[N_CURVES], sum = 0, ratio;

    for (size_t i = 0; i < c->k; i++) {
        double u = open_uniform(r, b, (uint32_t)i + 1);

        next[i] = STEP * num_normal_quantile(u) + w[i];
        sum += next[i];
    }
    for (size_t i = 0; i < c->k; i++)
        next[i] /= sum;
    ratio = posterior(c, next) / posterior(c, w);
    if (r->uniform(r->ctx, b, 0) < ratio)
        memcpy(w, next, c->k * sizeof *w);
}

static double
sample(const struct combination *c, const struct predict_random *r)
{
    double w[N_CURVES], sum = 0;

    for (uint32_t chain = 0; chain < CHAINS; chain++) {
        for (size_t i = 0; i < c->k; i++)
            w[i] = 1 / (double)c->k;
        for (uint32_t sweep = 0; sweep < SWEEPS; sweep++)
            move(c, w, r, chain * SWEEPS + sweep);
        sum += combined_at_target(c, w);
    }
    return sum / CHAINS;
}

int
predict(const double *y, size_t n, double target,
        const struct predict_random *random, struct prediction *out)
{
    struct combination c = {.y = y, .n = n};
    double *work = calloc(n, (N_CURVES + WORK) * sizeof *work);

    *out = (struct prediction){.value = NAN};
    if (work == NULL)
        return -1;
    c.at = work + n * WORK;
    fit_all(&c, target, work, out);
    agree(&c, out);
    if (c.k >= AGREED_MIN)
        out->value = sample(&c, random);
    free(work);
    return 0;
}
