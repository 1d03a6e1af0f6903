/* SPDX-License-Identifier: MIT */
#include "tpe/axis.h"

#include "batch.h"
#include "elementary.h"
#include "normal.h"

#include <math.h>
#include <stdlib.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define SQRT_12 0x1.bb67ae8584caap+1
#define CELLS_MAX 0x1p52  /* more are a continuum */
#define FAR 1000.0        /* units; beyond, one place is like the other */
#define MASS_LEAST 1e-300 /* of a cell */

static double
limit(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* The multiple of q that the internal coordinate x is rounded to. */
static double
multiple(const struct axis *a, double x)
{
    double k = num_round_even((a->is_log ? num_exp(x) : x) / a->q);

    return limit(k, a->first, a->last);
}

/* The user's value v as an internal coordinate. */
static double
inner(const struct axis *a, double v)
{
    return a->is_log ? num_log(v) : v;
}

/* The cell of the k-th multiple in internal coordinates.  The outermost are
 * as wide on the outside as on the inside. */
static struct place
cell(const struct axis *a, double k)
{
    double v =
        a->kind == AXIS_NORMAL ? k * a->q : limit(k * a->q, a->low, a->high);
    struct place p = {inner(a, v), inner(a, (k - 0.5) * a->q),
                      inner(a, (k + 0.5) * a->q)};

    if (a->kind == AXIS_NORMAL && a->is_log && k <= 0) {
        p.at = inner(a, 0.25 * a->q);
        p.low = -INFINITY;
    }
    if (a->kind != AXIS_NORMAL && k <= a->first)
        p.low = p.at - (p.high - p.at);
    if (a->kind != AXIS_NORMAL && k >= a->last)
        p.high = p.at + (p.at - p.low);
    return p;
}

static void
set_ends(struct axis *a, double low, double high)
{
    a->origin = low;
    a->unit = high - low;
    if (!(a->unit > 0) || !isfinite(a->unit)) {
        a->kind = AXIS_SINGLE;
        a->at = low;
    }
}

static void
set_range(struct axis *a, const struct tp_dim *d)
{
    a->kind = AXIS_RANGE;
    if (d->flags & TP_DIM_INDEX) {
        a->n = (double)d->n_choices;
        a->first = 0;
        a->last = a->n - 1;
        a->q = 1;
    } else if (d->flags & TP_DIM_Q) {
        a->first = num_round_even(a->low / d->q);
        a->last = num_round_even(a->high / d->q);
        a->n = a->last - a->first + 1;
        a->q = d->q;
    }
    if (a->n == 1) {
        a->kind = AXIS_SINGLE;
        a->at = d->low;
    } else if (a->n > 1 && a->n < CELLS_MAX) {
        set_ends(a, cell(a, a->first).low, cell(a, a->last).high);
    } else {
        a->n = a->q = 0;
        set_ends(a, d->low, d->high);
    }
}

struct axis
tpe_axis_of(const struct tp_dim *d)
{
    int is_log = (d->flags & TP_DIM_LOG) != 0;
    struct axis a = {
        .is_log = is_log,
        .is_index = (d->flags & TP_DIM_INDEX) != 0,
        .low = is_log ? num_exp(d->low) : d->low,
        .high = is_log ? num_exp(d->high) : d->high,
        .parent = d->parent,
        .parent_choice = d->parent_choice,
    };

    if (d->kind == TP_CHOICE) {
        a.kind = d->n_choices > 1 ? AXIS_CATEGORY : AXIS_SINGLE;
        a.n = (double)d->n_choices;
        a.log_n = num_log(a.n);
    } else if (!(d->flags & TP_DIM_NORMAL)) {
        set_range(&a, d);
    } else if (d->sigma > 0) {
        a.kind = AXIS_NORMAL;
        a.q = d->flags & TP_DIM_Q ? d->q : 0;
        a.first = -CELLS_MAX;
        a.last = CELLS_MAX;
        if (is_log)
            a.first = 0;
        a.origin = d->mu;
        a.unit = d->sigma * SQRT_12;
    } else {
        a.kind = AXIS_SINGLE;
        a.at = d->mu;
    }
    return a;
}

struct axis *
tpe_axes_of(const struct tp_space *s)
{
    struct axis *axes = calloc(s->n_dims + 1, sizeof *axes);

    for (size_t i = 0; axes != NULL && i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    return axes;
}

static double
unit_of(const struct axis *a, double x)
{
    double u = (x - a->origin) / a->unit;

    return a->kind == AXIS_RANGE ? limit(u, 0, 1) : limit(u, -FAR, FAR);
}

struct place
tpe_axis_place(const struct axis *a, double x)
{
    struct place p;

    if (a->kind == AXIS_SINGLE || a->kind == AXIS_CATEGORY)
        return (struct place){x, x, x};
    if (a->q == 0) {
        p.at = unit_of(a, x);
        return (struct place){p.at, p.at, p.at};
    }
    p = cell(a, multiple(a, x));
    return (struct place){unit_of(a, p.at), unit_of(a, p.low),
                          unit_of(a, p.high)};
}

double
tpe_axis_value(const struct axis *a, double u)
{
    double x = a->origin + a->unit * u;

    if (a->kind == AXIS_SINGLE)
        return a->at;
    if (a->kind == AXIS_CATEGORY)
        return u;
    if (a->q == 0)
        return a->is_index ? num_round_even(x) : x; /* too many for cells */
    return cell(a, multiple(a, x)).at;
}

double
tpe_axis_column(const struct axis *a, double at)
{
    return multiple(a, a->origin + a->unit * at) - a->first;
}

double
tpe_axis_of_column(const struct axis *a, size_t column)
{
    return unit_of(a, cell(a, a->first + (double)column).at);
}

/* Of the standard normal distribution. */
static double
log_mass(double low, double high)
{
    double mass = num_normal_mass(low, high);

    return num_log(mass > MASS_LEAST ? mass : MASS_LEAST);
}

void
tpe_axis_log_masses(double *low, double *high, size_t n)
{
    num_normal_mass_n(low, high, high, n);
    for (size_t i = 0; i < n; i++)
        low[i] = num_log(high[i] > MASS_LEAST ? high[i] : MASS_LEAST);
}

int
tpe_axis_is_active(const struct axis *a, const double *x)
{
    return a->parent == TP_NO_PARENT ||
           x[a->parent] == (double)a->parent_choice;
}

int
tpe_axis_is_point(const struct axis *axes, size_t n, const double *x)
{
    for (size_t d = 0; d < n; d++) {
        if ((isnan(x[d]) != 0) == (tpe_axis_is_active(&axes[d], x) != 0))
            return 0;
        if (axes[d].kind == AXIS_CATEGORY && !isnan(x[d]) &&
            !(x[d] >= 0 && x[d] < axes[d].n))
            return 0;
    }
    return 1;
}

double
tpe_axis_below(const struct axis *a, double mu, double s, double u)
{
    if (a->kind == AXIS_NORMAL)
        return u;
    return num_normal_cdf((u - mu) / s);
}

/* As if each category had been seen once more in the n + 1 kernels. */
void
tpe_axis_category(const struct axis *a, size_t n, double *hit, double *miss)
{
    double extra = 1 / ((double)n + 1), sum = 1 + a->n * extra;

    *hit = num_log((1 + extra) / sum);
    *miss = num_log(extra / sum);
}

double
tpe_axis_log_kernel(double mu, double s, struct place p)
{
    double z = (p.at - mu) / s;

    if (p.low < p.high)
        return log_mass((p.low - mu) / s, (p.high - mu) / s);
    return -0.5 * z * z - LOG_SQRT_2_PI - num_log(s);
}

double
tpe_axis_log_prior(const struct axis *a, struct place p)
{
    switch (a->kind) {
    case AXIS_CATEGORY:
        return -a->log_n;
    case AXIS_RANGE:
        return p.low < p.high ? num_log(p.high - p.low) : 0;
    case AXIS_NORMAL:
        return tpe_axis_log_kernel(0, 1 / SQRT_12, p);
    case AXIS_SINGLE:
        break;
    }
    return 0;
}

double
tpe_axis_draw(const struct axis *a, double mu, double s, double below)
{
    double u = mu + s * num_normal_quantile(below > 0 ? below : 0x1p-54);

    return a->kind == AXIS_RANGE ? limit(u, 0, 1) : u;
}

double
tpe_axis_draw_prior(const struct axis *a, double share)
{
    if (a->kind == AXIS_NORMAL)
        return tpe_axis_draw(a, 0, 1 / SQRT_12, share);
    if (a->kind == AXIS_CATEGORY) {
        double c = (double)(uint64_t)(share * a->n);

        return c < a->n ? c : a->n - 1;
    }
    return share;
}
