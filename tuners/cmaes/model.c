/* SPDX-License-Identifier: MIT */
#include "cmaes/model.h"

#include "elementary.h"
#include "linear.h"
#include "matern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SQRT_5 2.23606797749979
#define LOG_SQRT_2PI 0.9189385332046727
#define NOISE_MIN 1e-8
#define NEIGHBOURS 5  /* that say whether a failure was an accident */
#define LOG_W_MAX 9.2 /* 10^4 and its reciprocal */

int
cmaes_model_init(struct cmaes_model *m, size_t n_number, size_t n_feature,
                 size_t room)
{
    size_t n_theta = n_feature + 2;

    memset(m, 0, sizeof *m);
    m->n_number = n_number;
    m->n_feature = n_feature;
    m->room = room;
    m->x = calloc(room * n_feature + 1, sizeof *m->x);
    m->y = calloc(room, sizeof *m->y);
    m->root = calloc(room * room, sizeof *m->root);
    m->alpha = calloc(room, sizeof *m->alpha);
    m->work = calloc(room * room + room + n_feature + 2, sizeof *m->work);
    m->log_theta = calloc(4 * n_theta, sizeof *m->log_theta);
    if (m->x == NULL || m->y == NULL || m->root == NULL || m->alpha == NULL ||
        m->work == NULL || m->log_theta == NULL)
        return -1;
    m->step = m->log_theta + n_theta;
    m->slope = m->step + n_theta;
    m->weight = m->slope + n_theta;
    for (size_t i = 0; i < n_theta; i++)
        m->step[i] = 0.3;
    m->log_theta[n_theta - 1] = num_log(1e-3);
    return 0;
}

void
cmaes_model_fini(struct cmaes_model *m)
{
    free(m->x);
    free(m->y);
    free(m->root);
    free(m->alpha);
    free(m->work);
    free(m->log_theta);
}

/* Squared difference of two features; none when one is inactive. */
static double
apart(const struct cmaes_model *m, size_t i, double a, double b)
{
    double d = a - b;

    if (!(d == d))
        return 0;
    if (i >= m->n_number)
        return d != 0;
    return d * d;
}

static double
distance(const struct cmaes_model *m, const double *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < m->n_feature; i++)
        sum += m->weight[i] * apart(m, i, a[i], b[i]);
    return sum;
}

/* The parameters themselves, from their logarithms. */
static void
exponentiate(struct cmaes_model *m)
{
    for (size_t i = 0; i < m->n_feature; i++)
        m->weight[i] = num_exp(m->log_theta[i]);
    m->variance = num_exp(m->log_theta[m->n_feature]);
    m->noise = num_exp(m->log_theta[m->n_feature + 1]) + NOISE_MIN;
}

/* The kernel matrix's factor, and alpha. */
static int
factor(struct cmaes_model *m)
{
    size_t d = m->n_feature;

    for (size_t i = 0; i < m->n; i++) {
        for (size_t k = 0; k < i; k++)
            m->root[i * m->n + k] =
                m->variance *
                num_matern52(distance(m, m->x + i * d, m->x + k * d));
        m->root[i * m->n + i] = m->variance + m->noise;
    }
    if (num_cholesky(m->root, m->n) != 0)
        return -1;
    memcpy(m->alpha, m->y, m->n * sizeof *m->y);
    num_cholesky_solve(m->root, m->n, m->alpha);
    return 0;
}

/* Slopes of the posterior by log_theta; -1: there is none. */
static int
slopes(struct cmaes_model *m, double *out)
{
    size_t d = m->n_feature, n = m->n;
    double *inverse = m->work;

    exponentiate(m);
    if (factor(m) != 0)
        return -1;
    num_cholesky_inverse(m->root, n, n, inverse);
    memset(out, 0, (d + 2) * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        double own = m->alpha[k] * m->alpha[k] - inverse[k * n + k];

        out[d] += 0.5 * own * m->variance;
        out[d + 1] += 0.5 * own * m->noise;
        for (size_t i = k + 1; i < n; i++) {
            const double *a = m->x + i * d, *b = m->x + k * d;
            double both = m->alpha[i] * m->alpha[k] - inverse[k * n + i];
            double r = SQRT_5 * num_sqrt(distance(m, a, b)), f;

            both *= m->variance * num_decay(r);
            out[d] += both * (1 + r + r * r / 3);
            f = -(5.0 / 6) * (1 + r) * both; /* by the squared distance */
            for (size_t j = 0; j < d; j++)
                out[j] += f * m->weight[j] * apart(m, j, a[j], b[j]);
        }
    }
    for (size_t j = 0; j < d; j++)
        out[j] += 0.1 / m->weight[j] - 0.1 * m->weight[j];
    out[d] += 1 - m->variance;
    out[d + 1] += 0.1 - 30 * m->noise;
    return 0;
}

static void
climb(struct cmaes_model *m, const double *slope)
{
    for (size_t i = 0; i < m->n_feature + 2; i++) {
        double agree = slope[i] * m->slope[i], s = slope[i];

        if (agree > 0)
            m->step[i] = m->step[i] * 1.2 < 0.3 ? m->step[i] * 1.2 : 0.3;
        if (agree < 0) {
            m->step[i] = m->step[i] * 0.5 > 0.01 ? m->step[i] * 0.5 : 0.01;
            s = 0;
        }
        m->log_theta[i] += s > 0 ? m->step[i] : s < 0 ? -m->step[i] : 0;
        if (m->log_theta[i] > LOG_W_MAX)
            m->log_theta[i] = LOG_W_MAX;
        if (m->log_theta[i] < -LOG_W_MAX)
            m->log_theta[i] = -LOG_W_MAX;
        m->slope[i] = s;
    }
}

int
cmaes_model_fit(struct cmaes_model *m, size_t steps)
{
    double *slope = m->work + m->room * m->room;

    m->n_fit = m->n;
    m->n_failed = 0;
    for (size_t i = 0; i < steps; i++) {
        if (slopes(m, slope) != 0)
            return -1;
        climb(m, slope);
    }
    exponentiate(m);
    return factor(m);
}

/* Kernels of x with all rows, into k. */
static void
kernels(const struct cmaes_model *m, const double *x, double *k)
{
    for (size_t i = 0; i < m->n; i++)
        k[i] =
            m->variance * num_matern52(distance(m, x, m->x + i * m->n_feature));
}

/* What to expect at x, and its variance. */
static void
predict(struct cmaes_model *m, const double *x, double *mean, double *variance)
{
    double *k = m->work + m->room * m->room;
    double left = m->variance;

    kernels(m, x, k);
    *mean = num_dot(k, m->alpha, m->n);
    for (size_t i = 0; i < m->n; i++) {
        const double *row = m->root + i * m->n;

        k[i] = (k[i] - num_dot(row, k, i)) / row[i];
        left -= k[i] * k[i];
    }
    *variance = left > 1e-12 ? left : 1e-12;
}

/* log(phi(z) + z Phi(z)) */
static double
log_gain(double z)
{
    double density = num_exp(-0.5 * z * z - LOG_SQRT_2PI), square = z * z;

    if (z > -5)
        return num_log(density + z * 0.5 * num_erfc(-z / 1.4142135623730951));
    return -0.5 * square - LOG_SQRT_2PI +
           num_log((1 - 3 / square + 15 / (square * square)) / square);
}

/* Whether most of the rows nearest to row i failed, it included. */
static bool
is_among_failures(const struct cmaes_model *m, size_t i)
{
    double near[NEIGHBOURS + 1];
    bool failed[NEIGHBOURS + 1];
    size_t n = 0, count = 0;

    for (size_t k = 0; k < m->n; k++) {
        bool has_failed = k >= m->n - m->n_failed;
        double d =
            distance(m, m->x + i * m->n_feature, m->x + k * m->n_feature);
        size_t at = n;

        if (k >= m->n_fit && !has_failed)
            continue; /* nobody knows yet */
        for (; at > 0 && near[at - 1] > d; at--) {
            near[at] = near[at - 1];
            failed[at] = failed[at - 1];
        }
        near[at] = d;
        failed[at] = has_failed;
        n += n < NEIGHBOURS;
    }
    for (size_t k = 0; k < n; k++)
        count += failed[k];
    return 2 * count > NEIGHBOURS;
}

int
cmaes_model_believe(struct cmaes_model *m, size_t n_out, size_t n_failed)
{
    size_t n = m->n_fit + n_out + n_failed;
    double variance, worst = 0;

    for (size_t i = 0; i < m->n_fit; i++)
        worst = m->y[i] > worst ? m->y[i] : worst;
    for (size_t i = m->n_fit; i < n; i++)
        predict(m, m->x + i * m->n_feature, &m->y[i], &variance);
    m->n = n;
    m->n_failed = n_failed;
    for (size_t i = n - n_failed; i < n; i++)
        if (is_among_failures(m, i))
            m->y[i] = worst;
    return factor(m);
}

double
cmaes_model_gain(struct cmaes_model *m, const double *x, double best)
{
    double mean, variance, s;

    predict(m, x, &mean, &variance);
    s = num_sqrt(variance);
    return num_log(s) + log_gain((best - mean) / s);
}
