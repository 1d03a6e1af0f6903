/* SPDX-License-Identifier: MIT */
#include "tpe/rest.h"

#include "batch.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define LANES 8
#define NEGLIGIBLE -40.0 /* e^-40 is 4e-18 */
#define SURE 1e-6        /* more than what rounding does to a sum */

/* Masses of the candidate's cell `column` under a kernel in each column, and,
 * behind them, where a point lacks the dimension. */
static double *
row_of(struct rest *r, size_t d, size_t column, struct place p)
{
    const struct axis *a = &r->axes[d];
    struct rest_dim *dim = &r->dims[d];
    double *row = dim->rows[column], high[REST_TABLE_MOST];

    if (row != NULL)
        return row;
    row = calloc(dim->n_columns + 1, sizeof *row);
    if (row == NULL)
        return NULL;
    for (size_t i = 0; i < dim->n_columns; i++) {
        double at = tpe_axis_of_column(a, i);

        row[i] = (p.low - at) / dim->s;
        high[i] = (p.high - at) / dim->s;
        if (isnan(dim->within[i]))
            dim->within[i] = tpe_rest_log_inside(a, at, dim->s);
    }
    tpe_axis_log_masses(row, high, dim->n_columns);
    for (size_t i = 0; i < dim->n_columns; i++)
        row[i] -= dim->within[i];
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

static void
add_category(double *restrict v, const double *restrict at,
             const struct rest_dim *dim, const struct rest_term *t)
{
    double x = t->at, hit = dim->hit, miss = dim->miss, prior = t->prior;

    for (size_t i = 0; i < REST_BLOCK; i++) {
        double known = at[i] == x ? hit : miss;

        v[i] += at[i] == at[i] ? known : prior;
    }
}

static void
add_gaussian(double *restrict v, const double *restrict at, double x, double h)
{
    for (size_t i = 0; i < REST_BLOCK; i++)
        v[i] -= h * ((x - at[i]) * (x - at[i]));
}

static void
add_nested(double *restrict v, const double *restrict at,
           const double *restrict inside, const struct rest_term *t)
{
    double x = t->at, h = t->h, c = t->c, prior = t->prior;

    double known[REST_BLOCK];

    for (size_t i = 0; i < REST_BLOCK; i++)
        known[i] = c - h * ((x - at[i]) * (x - at[i])) - inside[i];
    for (size_t i = 0; i < REST_BLOCK; i++)
        v[i] += at[i] == at[i] ? known[i] : prior;
}

static void
add_term(const struct rest *r, const struct rest_term *t, size_t from,
         double *v)
{
    const struct axis *a = &r->axes[t->d];
    const struct rest_dim *dim = &r->dims[t->d];
    const double *at = dim->at + from;

    if (t->row != NULL)
        add_row(v, at, t->row);
    else if (a->kind == AXIS_CATEGORY && a->parent == TP_NO_PARENT)
        add_hits(v, at, t->at, dim->hit - dim->miss);
    else if (a->kind == AXIS_CATEGORY)
        add_category(v, at, dim, t);
    else if (dim->inside == NULL)
        add_gaussian(v, at, t->at, t->h);
    else
        add_nested(v, at, dim->inside + from, t);
}

/* Of kernels that have one width: what the candidate alone decides. */
static void
set_gaussian(const struct rest_dim *dim, struct place p, struct rest_term *t)
{
    double w = p.high - p.low, var = dim->s * dim->s + w * w / 12;

    t->h = dim->h;
    t->c = dim->c;
    if (w > 0) {
        t->h = 0.5 / var;
        t->c = -LOG_SQRT_2_PI - 0.5 * num_log(var) + num_log(w);
    }
}

static int
set_term(struct rest *r, size_t d, struct place p, struct rest_term *t)
{
    const struct axis *a = &r->axes[d];
    const struct rest_dim *dim = &r->dims[d];

    *t = (struct rest_term){
        .d = d, .at = p.at, .prior = tpe_axis_log_prior(a, p)};
    if (a->kind == AXIS_CATEGORY) {
        r->common += a->parent == TP_NO_PARENT ? dim->miss : 0;
    } else if (tpe_rest_has_table(a)) {
        t->row = row_of(r, d, (size_t)tpe_axis_column(a, p.at), p);
        return t->row == NULL ? -1 : 0;
    } else {
        set_gaussian(dim, p, t);
        r->common += dim->inside == NULL ? t->c : 0;
    }
    return 0;
}

/* The terms of a candidate, and what the prior gives it. */
static int
set_terms(struct rest *r, const struct place *at, double *prior)
{
    *prior = r->prior;
    r->common = 0;
    r->n_terms = 0;
    for (size_t d = 0; d < r->n_dims; d++) {
        struct rest_term *t = &r->terms[r->n_terms];

        if (isnan(at[d].at) || r->axes[d].kind == AXIS_SINGLE)
            continue;
        if (set_term(r, d, at[d], t) != 0)
            return -1;
        *prior += t->prior;
        r->n_terms++;
    }
    return 0;
}

/* The largest of a block's logarithms, which go to r->v. */
static double
set_block(struct rest *r, size_t from)
{
    double *v = r->v + from, tops[LANES], top;

    memcpy(v, r->weight + from, REST_BLOCK * sizeof *v);
    for (size_t t = 0; t < r->n_terms; t++)
        add_term(r, &r->terms[t], from, v);
    memcpy(tops, v, sizeof tops);
    for (size_t i = 0; i < REST_BLOCK; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            tops[l] = v[i + l] > tops[l] ? v[i + l] : tops[l];
    top = tops[0];
    for (size_t l = 1; l < LANES; l++)
        top = tops[l] > top ? tops[l] : top;
    return top;
}

/* log(e^v[0] + ... + e^v[n-1] + e^prior), n a multiple of LANES, none of them
 * above `most`.  Most kernels are far from most candidates: LANES in a row that
 * add nothing are left out. */
static double
log_sum(const double *v, size_t n, double prior, double most)
{
    double sum = num_exp(prior - most), e[LANES];

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
tpe_rest_score(struct rest *r, const struct place *at, double most)
{
    double prior, top, least = 0;
    size_t n = 0;

    if (set_terms(r, at, &prior) != 0)
        return NAN;
    top = prior -= r->common;
    most -= r->common;
    for (; n < r->n; n += REST_BLOCK) {
        double here = set_block(r, n);

        top = here > top ? here : top;
        if (top > most + SURE)
            return INFINITY;
        least += num_sum_exp_least(r->v + n, most, REST_BLOCK);
        if (least > 1 + SURE)
            return INFINITY;
    }
    return r->common + log_sum(r->v, n, prior, top);
}
