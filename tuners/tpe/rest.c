/* SPDX-License-Identifier: MIT */
#include "tpe/rest.h"

#include "elementary.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define WIDTH 0.2     /* of the range, for one result */
#define NOTHING -1e6  /* the logarithm of no weight */
#define STEP_SHARE 10 /* widths change when a tenth more is known */

static int
is_gaussian(const struct axis *a)
{
    return a->kind == AXIS_NORMAL ||
           (a->kind == AXIS_RANGE && !tpe_rest_has_table(a));
}

static int
init_dim(struct rest *r, size_t d)
{
    const struct axis *a = &r->axes[d];
    struct rest_dim *dim = &r->dims[d];

    if (a->kind == AXIS_RANGE || a->kind == AXIS_NORMAL)
        r->n_shaping++;
    if (!tpe_rest_has_table(a))
        return 0;
    dim->n_columns = (size_t)a->n;
    dim->rows = calloc(dim->n_columns, sizeof *dim->rows);
    dim->within = calloc(dim->n_columns, sizeof *dim->within);
    return dim->rows == NULL || dim->within == NULL ? -1 : 0;
}

static void
forget_rows(struct rest_dim *dim)
{
    for (size_t i = 0; i < dim->n_columns; i++) {
        free(dim->rows[i]);
        dim->rows[i] = NULL;
        dim->within[i] = NAN;
    }
}

/* Scott's rule. */
static void
set_widths(struct rest *r, size_t step)
{
    double s =
        WIDTH * num_exp(-num_log((double)step) / ((double)r->n_shaping + 4));

    r->width_n = step;
    for (size_t d = 0; d < r->n_dims; d++) {
        struct rest_dim *dim = &r->dims[d];

        dim->s = s;
        dim->h = 0.5 / (s * s);
        dim->c = -LOG_SQRT_2_PI - 0.5 * num_log(s * s);
        if (r->axes[d].kind == AXIS_CATEGORY)
            tpe_axis_category(&r->axes[d], step, &dim->hit, &dim->miss);
        forget_rows(dim);
    }
}

int
tpe_rest_init(struct rest *r, const struct axis *axes, size_t n_dims,
              size_t most)
{
    *r = (struct rest){.axes = axes, .n_dims = n_dims, .most = most};
    r->dims = calloc(n_dims + 1, sizeof *r->dims);
    r->terms = calloc(n_dims + 1, sizeof *r->terms);
    if (r->dims == NULL || r->terms == NULL)
        return -1;
    for (size_t d = 0; d < n_dims; d++)
        if (init_dim(r, d) != 0)
            return -1;
    set_widths(r, 1);
    return 0;
}

void
tpe_rest_fini(struct rest *r)
{
    for (size_t d = 0; r->dims != NULL && d < r->n_dims; d++) {
        for (size_t i = 0; i < r->dims[d].n_columns && r->dims[d].rows; i++)
            free(r->dims[d].rows[i]);
        free(r->dims[d].rows);
        free(r->dims[d].within);
        free(r->dims[d].at);
        free(r->dims[d].inside);
    }
    free(r->dims);
    free(r->terms);
    free(r->base);
    free(r->weight);
    free(r->v);
    *r = (struct rest){.n_dims = 0};
}

static int
grow(double **array, size_t from, size_t to)
{
    if (grow_to(array, to, sizeof **array) != 0)
        return -1;
    memset(*array + from, 0, (to - from) * sizeof **array);
    return 0;
}

static int
grow_dim(struct rest *r, size_t d, size_t to)
{
    const struct axis *a = &r->axes[d];
    struct rest_dim *dim = &r->dims[d];

    if (a->kind == AXIS_SINGLE)
        return 0;
    if (grow(&dim->at, r->capacity, to) != 0)
        return -1;
    if (a->parent == TP_NO_PARENT || !is_gaussian(a))
        return 0;
    return grow(&dim->inside, r->capacity, to);
}

static int
make_room(struct rest *r)
{
    size_t to = r->capacity == 0 ? REST_BLOCK : r->capacity * 2;

    if (r->n < r->capacity)
        return 0;
    for (size_t d = 0; d < r->n_dims; d++)
        if (grow_dim(r, d, to) != 0)
            return -1;
    if (grow(&r->base, r->capacity, to) != 0 ||
        grow(&r->weight, r->capacity, to) != 0 ||
        grow(&r->v, r->capacity, to) != 0)
        return -1;
    r->capacity = to;
    return 0;
}

double
tpe_rest_log_inside(const struct axis *a, double at, double s)
{
    return num_log(tpe_axis_below(a, at, s, 1) - tpe_axis_below(a, at, s, 0));
}

/* What does not depend on the candidate, of the kernel in `slot`. */
static void
set_slot(struct rest *r, size_t slot, const double *at)
{
    r->base[slot] = 0;
    for (size_t d = 0; d < r->n_dims; d++) {
        const struct axis *a = &r->axes[d];
        struct rest_dim *dim = &r->dims[d];
        double inside = 0;

        if (a->kind == AXIS_SINGLE)
            continue;
        if (!tpe_rest_has_table(a))
            dim->at[slot] = at[d];
        else
            dim->at[slot] = isnan(at[d]) ? a->n : tpe_axis_column(a, at[d]);
        if (is_gaussian(a) && !isnan(at[d]))
            inside = tpe_rest_log_inside(a, at[d], dim->s);
        if (dim->inside != NULL)
            dim->inside[slot] = inside;
        else
            r->base[slot] -= inside;
    }
}

int
tpe_rest_put(struct rest *r, const struct points *p, size_t i)
{
    size_t slot = i % r->most;

    if (i + r->most < p->n)
        return 0; /* its slot has gone to a later one */
    if (slot >= r->n) {
        if (make_room(r) != 0)
            return -1;
        r->n = slot + 1;
    }
    r->base[slot] = NAN;
    return 0;
}

/* The widths for n results are made for this many. */
static size_t
step_below(size_t n)
{
    size_t at = 1;

    while (at + at / STEP_SHARE + 1 <= n)
        at += at / STEP_SHARE + 1;
    return at;
}

void
tpe_rest_shape(struct rest *r, const struct points *p, size_t n)
{
    size_t step = step_below(n);
    bool all = step != r->width_n;

    if (all)
        set_widths(r, step);
    for (size_t slot = 0; slot < r->n; slot++)
        if (all || isnan(r->base[slot]))
            set_slot(r, slot, tpe_points_at(p, tpe_rest_point(r, slot, p->n)));
}

void
tpe_rest_weigh(struct rest *r, const double *weight, double prior)
{
    double sum = prior, last = 0, its_log = 0;

    for (size_t i = 0; i < r->n; i++)
        sum += weight[i];
    for (size_t i = 0; i < r->n; i++) {
        if (weight[i] > 0 && weight[i] != last) {
            last = weight[i];
            its_log = num_log(last / sum);
        }
        r->weight[i] = (weight[i] > 0 ? its_log : NOTHING) + r->base[i];
    }
    for (size_t i = r->n; i < r->capacity; i++)
        r->weight[i] = NOTHING;
    r->prior = num_log(prior / sum);
}
