/* SPDX-License-Identifier: MIT */
#include "cmaes/axis.h"

#include "elementary.h"

#include <math.h>

#define SQRT_12 3.4641016151377544
#define CELLS_MAX 4503599627370496.0 /* 2^52: beyond it halves are lost */

static double
to_value(const struct cmaes_dim *d, double x)
{
    return d->is_log ? num_exp(x) : x;
}

/* The number of the cell that x is rounded to. */
static double
cell_of(const struct cmaes_dim *d, double x)
{
    return num_round_even(to_value(d, x) / d->q);
}

bool
cmaes_axis_has_cells(const struct cmaes_dim *d)
{
    return d->kind == CMAES_STEPS || d->kind == CMAES_ORDER;
}

bool
cmaes_axis_is_free(const struct cmaes_dim *d)
{
    switch (d->kind) {
    case CMAES_CATEGORY:
    case CMAES_ORDER:
        return d->n_choices > 1;
    case CMAES_STEPS:
    case CMAES_REAL:
        break;
    }
    if (d->is_normal)
        return d->sigma > 0 && d->sigma * SQRT_12 < INFINITY;
    if (!(d->high > d->low) || !(d->high - d->low < INFINITY))
        return false;
    return d->kind == CMAES_REAL || cell_of(d, d->low) < cell_of(d, d->high);
}

/* From 0..1 to 0..1; a straight line below, where no value is. */
static double
warp(const struct cmaes_dim *d, double u)
{
    double bent = d->span * u;

    if (!d->is_warped)
        return u;
    return (u > 0 ? num_log(1 + bent) : bent) / num_log(1 + d->span);
}

static double
unwarp(const struct cmaes_dim *d, double u)
{
    if (!d->is_warped)
        return u;
    return (num_exp(u * num_log(1 + d->span)) - 1) / d->span;
}

double
cmaes_axis_unit(const struct cmaes_dim *d, double x)
{
    if (d->kind == CMAES_ORDER)
        return warp(d, (x + 0.5) / (double)d->n_choices);
    if (d->is_normal)
        return 0.5 + (x - d->mu) / (d->sigma * SQRT_12);
    return warp(d, (x - d->low) / (d->high - d->low));
}

static double
between(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

double
cmaes_axis_internal(const struct cmaes_dim *d, double u)
{
    u = unwarp(d, u);
    if (d->kind == CMAES_ORDER)
        return between(floor(u * (double)d->n_choices), 0,
                       (double)(d->n_choices - 1));
    if (d->is_normal)
        return d->mu + (u - 0.5) * (d->sigma * SQRT_12);
    return between(d->low + u * (d->high - d->low), d->low, d->high);
}

/* The unit coordinate of the value between two cells. */
static double
edge(const struct cmaes_dim *d, double value)
{
    if (!d->is_log)
        return cmaes_axis_unit(d, value);
    return value > 0 ? cmaes_axis_unit(d, num_log(value)) : -INFINITY;
}

bool
cmaes_axis_cell(const struct cmaes_dim *d, double u, double *low, double *high)
{
    double x = cmaes_axis_internal(d, u), k, n;

    if (d->kind == CMAES_ORDER) {
        n = (double)d->n_choices;
        *low = x > 0 ? warp(d, x / n) : -INFINITY;
        *high = x < n - 1 ? warp(d, (x + 1) / n) : INFINITY;
        return true;
    }
    k = cell_of(d, x);
    if (!(fabs(k) < CELLS_MAX))
        return false;
    *low = edge(d, (k - 0.5) * d->q);
    *high = edge(d, (k + 0.5) * d->q);
    if (!d->is_normal && k <= cell_of(d, d->low))
        *low = -INFINITY;
    if (!d->is_normal && k >= cell_of(d, d->high))
        *high = INFINITY;
    return true;
}

double
cmaes_axis_clip(const struct cmaes_dim *d, double u)
{
    return d->is_normal ? u : between(u, 0, 1);
}

double
cmaes_axis_centre(const struct cmaes_dim *d, double u)
{
    double x = cmaes_axis_internal(d, u), v;

    if (d->kind != CMAES_STEPS)
        return cmaes_axis_unit(d, x);
    v = cell_of(d, x) * d->q;
    if (d->is_log && !(v > 0))
        return cmaes_axis_unit(d, x);
    v = d->is_log ? num_log(v) : v;
    return cmaes_axis_unit(d, d->is_normal ? v : between(v, d->low, d->high));
}
