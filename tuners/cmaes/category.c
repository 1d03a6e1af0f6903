/* SPDX-License-Identifier: MIT */
#include "cmaes/category.h"

#include "elementary.h"

#include <stdlib.h>
#include <string.h>

/* Of ASNG: how large the path may be before the step shrinks. */
#define ALPHA 1.5

int
cmaes_categories_init(struct cmaes_categories *c, const size_t *counts,
                      size_t n, double margin)
{
    size_t total = 0;

    memset(c, 0, sizeof *c);
    c->n = n;
    c->margin = margin;
    c->at = calloc(n + 1, sizeof *c->at);
    if (c->at == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        c->at[i + 1] = total += counts[i];
    c->theta = calloc(total + 1, sizeof *c->theta);
    c->path = calloc(total + 1, sizeof *c->path);
    c->scratch = calloc(total + 1, sizeof *c->scratch);
    if (c->theta == NULL || c->path == NULL || c->scratch == NULL)
        return -1;
    cmaes_categories_reset(c);
    return 0;
}

void
cmaes_categories_fini(struct cmaes_categories *c)
{
    free(c->at);
    free(c->theta);
    free(c->path);
    free(c->scratch);
}

void
cmaes_categories_reset(struct cmaes_categories *c)
{
    c->delta = 1;
    c->gamma = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = c->at[i]; k < c->at[i + 1]; k++) {
            c->theta[k] = 1 / (double)(c->at[i + 1] - c->at[i]);
            c->path[k] = 0;
        }
}

uint32_t
cmaes_categories_pick(const struct cmaes_categories *c, size_t i,
                      double uniform)
{
    size_t from = c->at[i], end = c->at[i + 1], k = from;
    double sum = c->theta[k];

    while (k + 1 < end && uniform >= sum)
        sum += c->theta[++k];
    return (uint32_t)(k - from);
}

/* sum over points of w (one-hot - theta), into scratch. */
static void
gradient(struct cmaes_categories *c, const uint32_t *pick, const double *w,
         size_t n_points)
{
    memset(c->scratch, 0, c->at[c->n] * sizeof *c->scratch);
    for (size_t p = 0; p < n_points; p++)
        for (size_t i = 0; i < c->n; i++) {
            uint32_t hit = pick[p * c->n + i];

            if (hit == CMAES_UNPICKED || w[p] == 0)
                continue;
            for (size_t k = c->at[i]; k < c->at[i + 1]; k++)
                c->scratch[k] -= w[p] * c->theta[k];
            c->scratch[c->at[i] + hit] += w[p];
        }
}

/* How long the gradient is by the Fisher metric; scratch is whitened by its
 * root on the way, out: the gradient itself. */
static double
fisher_length(const struct cmaes_categories *c)
{
    double sum = 0;

    for (size_t k = 0; k < c->at[c->n]; k++)
        sum += c->scratch[k] * c->scratch[k] / c->theta[k];
    return num_sqrt(sum);
}

/* The step grows while gradients agree and shrinks while they do not. */
static void
adapt(struct cmaes_categories *c, double length)
{
    double n_free = 0, beta, keep, add, square = 0, log_step;

    for (size_t i = 0; i < c->n; i++)
        n_free += (double)(c->at[i + 1] - c->at[i] - 1);
    beta = c->delta / num_sqrt(n_free > 0 ? n_free : 1);
    if (beta > 1)
        beta = 1;
    keep = 1 - beta;
    add = num_sqrt(beta * (2 - beta));
    for (size_t k = 0; k < c->at[c->n]; k++) {
        c->path[k] = keep * c->path[k] +
                     add * c->scratch[k] / num_sqrt(c->theta[k]) / length;
        square += c->path[k] * c->path[k];
    }
    c->gamma = keep * keep * c->gamma + beta * (2 - beta);
    log_step = beta * (c->gamma - square / ALPHA);
    /* A gradient has a sign to be right about: no step beyond the range. */
    c->delta *= num_exp(-log_step);
    if (c->delta > 1)
        c->delta = 1;
    if (c->delta < 0.01)
        c->delta = 0.01;
}

void
cmaes_categories_mend(struct cmaes_categories *c)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t from = c->at[i], end = c->at[i + 1], n = end - from;
        double least, sum = 0, excess = 0;

        if (n < 2)
            continue;
        least = c->margin / (double)(n - 1);
        if (least > 0.5 / (double)n)
            least = 0.5 / (double)n;
        for (size_t k = from; k < end; k++) {
            if (!(c->theta[k] > least))
                c->theta[k] = least;
            sum += c->theta[k];
            excess += c->theta[k] - least;
        }
        for (size_t k = from; k < end && excess > 0; k++)
            c->theta[k] += (1 - sum) * (c->theta[k] - least) / excess;
    }
}

void
cmaes_categories_update(struct cmaes_categories *c, const uint32_t *pick,
                        const double *w, size_t n_points)
{
    double length, step;

    if (c->n == 0)
        return;
    gradient(c, pick, w, n_points);
    length = fisher_length(c);
    if (!(length > 1e-12))
        return;
    step = c->delta / length;
    adapt(c, length);
    for (size_t k = 0; k < c->at[c->n]; k++)
        c->theta[k] += step * c->scratch[k];
    cmaes_categories_mend(c);
}
