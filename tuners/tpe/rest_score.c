/* SPDX-License-Identifier: MIT */
#include "tpe/rest.h"

#include "batch.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define LANES 8
#define NEGLIGIBLE -40.0 /* e^-40 is 4e-18 */

/* Masses of the candidate's cell `column` under a kernel in each column, and,
 * behind them, where a point lacks the dimension. */
static double *
row_of(struct rest *r, size_t d, size_t column, struct place p)
{
    const struct axis *a = &r->axes[d];
    struct rest_dim *dim = &r->dims[d];
    double *row = dim->rows[column];

    if (row != NULL)
        return row;
    row = calloc(dim->n_columns + 1, sizeof *row);
    if (row == NULL)
        return NULL;
    for (size_t i = 0; i < dim->n_columns; i++) {
        double at = tpe_axis_of_column(a, i);

        row[i] = tpe_axis_log_kernel(at, dim->s, p) -
                 tpe_rest_log_inside(a, at, dim->s);
    }
    row[dim->n_columns] = tpe_axis_log_prior(a, p);
    dim->rows[column] = row;
    return row;
}

/* The loops over a block have a fixed length, so that compilers make vectors
 * of them without having to be asked. */
static void
add_row(double *restrict v, const double *restrict at, const double *row)
{
    for (size_t i = 0; i < REST_BLOCK; i++)
        v[i] += row[(size_t)at[i]];
}

/* A hit of a dimension that all points have; misses are in r->common. */
static void
add_hits(double *restrict v, const double *restrict at, double x, double hit)
{
    for (size_t i = 0; i < REST_BLOCK; i++)
        v[i] += at[i] == x ? hit : 0;
}

struct category {
    double at, hit, miss, prior;
};

static void
add_category(double *restrict v, const double *restrict at,
             const struct category *c)
{
    double x = c->at, hit = c->hit, miss = c->miss, prior = c->prior;

    for (size_t i = 0; i < REST_BLOCK; i++) {
        double t = at[i] == x ? hit : miss;

        v[i] += at[i] == at[i] ? t : prior;
    }
}

struct gaussian {
    double at, h, c, prior;
};

static void
add_gaussian(double *restrict v, const double *restrict at,
             const struct gaussian *g)
{
    double x = g->at, h = g->h;

    for (size_t i = 0; i < REST_BLOCK; i++)
        v[i] -= h * ((x - at[i]) * (x - at[i]));
}

static void
add_nested(double *restrict v, const double *restrict at,
           const double *restrict inside, const struct gaussian *g)
{
    double x = g->at, h = g->h, c = g->c, prior = g->prior;

    for (size_t i = 0; i < REST_BLOCK; i++) {
        double t = c - h * ((x - at[i]) * (x - at[i])) - inside[i];

        v[i] += at[i] == at[i] ? t : prior;
    }
}

/* The same width for every kernel: what only the candidate decides. */
static struct gaussian
gaussian_at(const struct rest_dim *dim, struct place p, double prior)
{
    double w = p.high - p.low, var = dim->s * dim->s + w * w / 12;
    struct gaussian g = {
        .at = p.at,
        .h = 0.5 / var,
        .c = -LOG_SQRT_2_PI - 0.5 * num_log(var),
        .prior = prior,
    };

    if (w > 0)
        g.c += num_log(w);
    return g;
}

static void
add_numeric(struct rest *r, size_t d, struct place p, double prior)
{
    const struct rest_dim *dim = &r->dims[d];
    struct gaussian g = gaussian_at(dim, p, prior);

    if (dim->inside == NULL) {
        r->common += g.c;
        for (size_t i = 0; i < r->n; i += REST_BLOCK)
            add_gaussian(r->v + i, dim->at + i, &g);
    } else {
        for (size_t i = 0; i < r->n; i += REST_BLOCK)
            add_nested(r->v + i, dim->at + i, dim->inside + i, &g);
    }
}

static void
add_choice(struct rest *r, size_t d, double x, double prior)
{
    const struct axis *a = &r->axes[d];
    const double *at = r->dims[d].at;
    struct category c = {.at = x, .prior = prior};

    tpe_axis_category(a, r->width_n, &c.hit, &c.miss);
    if (a->parent == TP_NO_PARENT) {
        r->common += c.miss;
        for (size_t i = 0; i < r->n; i += REST_BLOCK)
            add_hits(r->v + i, at + i, x, c.hit - c.miss);
    } else {
        for (size_t i = 0; i < r->n; i += REST_BLOCK)
            add_category(r->v + i, at + i, &c);
    }
}

static int
add_dimension(struct rest *r, size_t d, struct place p, double prior)
{
    const struct axis *a = &r->axes[d];
    const double *at = r->dims[d].at, *row;

    if (a->kind == AXIS_CATEGORY) {
        add_choice(r, d, p.at, prior);
    } else if (!tpe_rest_has_table(a)) {
        add_numeric(r, d, p, prior);
    } else {
        row = row_of(r, d, (size_t)tpe_axis_column(a, p.at), p);
        if (row == NULL)
            return -1;
        for (size_t i = 0; i < r->n; i += REST_BLOCK)
            add_row(r->v + i, at + i, row);
    }
    return 0;
}

/* log(e^v[0] + ... + e^v[n-1] + e^prior), n a multiple of LANES.  Most kernels
 * are far from most candidates: LANES in a row that add nothing are left
 * out. */
static double
log_sum(const double *v, size_t n, double prior)
{
    double most = prior, sum, e[LANES];

    for (size_t i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    sum = num_exp(prior - most);
    for (size_t i = 0; i < n; i += LANES) {
        double top = v[i];

        for (size_t l = 0; l < LANES; l++) {
            e[l] = v[i + l] - most;
            top = v[i + l] > top ? v[i + l] : top;
        }
        if (top - most < NEGLIGIBLE)
            continue;
        num_exp_n(e, e, LANES);
        for (size_t l = 0; l < LANES; l++)
            sum += e[l];
    }
    return most + num_log(sum);
}

double
tpe_rest_score(struct rest *r, const struct place *at)
{
    size_t n = (r->n + REST_BLOCK - 1) / REST_BLOCK * REST_BLOCK;
    double prior = r->prior;

    r->common = 0;
    for (size_t i = 0; i < n; i++)
        r->v[i] = r->weight[i] + r->base[i];
    for (size_t d = 0; d < r->n_dims; d++) {
        double of_prior;

        if (isnan(at[d].at) || r->axes[d].kind == AXIS_SINGLE)
            continue;
        of_prior = tpe_axis_log_prior(&r->axes[d], at[d]);
        prior += of_prior;
        if (add_dimension(r, d, at[d], of_prior) != 0)
            return NAN;
    }
    prior -= r->common;
    return r->common + log_sum(r->v, n, prior);
}
