/* SPDX-License-Identifier: MIT */
#include "tpe/good.h"

#include "batch.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define WIDTHS_LEAST 100 /* of the range into so many, however many kernels */
#define CAPACITY_LEAST 8
#define CELLS_MOST 64 /* values of a dimension, and kernels, for tables */

int
tpe_good_init(struct good *g, const struct axis *axes, size_t n_dims)
{
    *g = (struct good){.axes = axes, .n_dims = n_dims};
    g->hit = calloc(n_dims + 1, sizeof *g->hit);
    g->miss = calloc(n_dims + 1, sizeof *g->miss);
    return g->hit != NULL && g->miss != NULL ? 0 : -1;
}

static void
free_kernels(struct good *g)
{
    for (size_t i = 0; i < g->capacity * g->n_dims; i++)
        free(g->kernels[i].cells);
    g->capacity = 0;
    free(g->kernels);
    free(g->weight);
    free(g->log_weight);
    free(g->sorted);
}

void
tpe_good_fini(struct good *g)
{
    free_kernels(g);
    free(g->hit);
    free(g->miss);
    *g = (struct good){.n_dims = 0};
}

static int
make_room(struct good *g, size_t n)
{
    if (n <= g->capacity && g->weight != NULL) /* n is 0 at first */
        return 0;
    if (n < g->capacity * 2)
        n = g->capacity * 2;
    if (n < CAPACITY_LEAST)
        n = CAPACITY_LEAST;
    free_kernels(g);
    g->kernels = calloc(n * g->n_dims + 1, sizeof *g->kernels);
    g->weight = calloc(n + 1, sizeof *g->weight);
    g->log_weight = calloc(n + 1, sizeof *g->log_weight);
    g->sorted = calloc(n + 1, sizeof *g->sorted);
    if (g->kernels == NULL || g->weight == NULL || g->log_weight == NULL ||
        g->sorted == NULL)
        return -1;
    g->capacity = n;
    return 0;
}

/* The best of n weighs as the recombination weights of CMA-ES have it. */
static void
set_weights(struct good *g, double prior)
{
    double sum = 0, log_n = num_log((double)g->n + 1);

    for (size_t k = 0; k < g->n; k++) {
        g->weight[k] = log_n - num_log((double)k + 1);
        sum += g->weight[k];
    }
    for (size_t k = 0; k < g->n; k++)
        g->weight[k] *= (double)g->n / (sum * ((double)g->n + prior));
    g->weight[g->n] = prior / ((double)g->n + prior);
    for (size_t k = 0; k <= g->n; k++)
        g->log_weight[k] = num_log(g->weight[k]);
}

static int
has_cells(const struct axis *a)
{
    return a->kind == AXIS_RANGE && a->n > 0 && a->n <= CELLS_MOST;
}

static int
compare(const void *va, const void *vb)
{
    double a = *(const double *)va, b = *(const double *)vb;

    return (a > b) - (a < b);
}

/* The first of the n sorted values that is not below `at`. */
static size_t
not_below(const double *sorted, size_t n, double at)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (sorted[mid] < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static double
width(const double *sorted, size_t n, double at)
{
    size_t i = not_below(sorted, n, at);
    double below = i > 0 ? at - sorted[i - 1] : 0;
    double above, s, least;

    while (i < n && sorted[i] <= at)
        i++;
    above = i < n ? sorted[i] - at : 0;
    s = n == 1 ? 1 : below > above ? below : above;
    least = 1 / ((double)n + 2 < WIDTHS_LEAST ? (double)n + 2 : WIDTHS_LEAST);
    return s > 1 ? 1 : s < least ? least : s;
}

static void
set_kernel(const struct axis *a, struct good_kernel *k, double at, double s)
{
    if (k->at == at && k->s == s)
        return;
    k->at = at;
    k->s = s;
    k->low = tpe_axis_below(a, at, s, 0);
    k->inside = tpe_axis_below(a, at, s, 1) - k->low;
    k->h = 0.5 / (s * s);
    k->c = -LOG_SQRT_2_PI - num_log(s * k->inside);
    for (size_t i = 0; k->cells != NULL && i < (size_t)a->n; i++)
        k->cells[i] = NAN;
}

static void
set_dimension(struct good *g, const struct points *p, const uint32_t *of,
              size_t d)
{
    const struct axis *a = &g->axes[d];
    int is_shaped = a->kind == AXIS_RANGE || a->kind == AXIS_NORMAL;
    size_t n = 0;

    for (size_t k = 0; k < g->n && is_shaped; k++)
        if (!isnan(tpe_points_at(p, of[k])[d]))
            g->sorted[n++] = tpe_points_at(p, of[k])[d];
    qsort(g->sorted, n, sizeof *g->sorted, compare);
    for (size_t k = 0; k < g->n; k++) {
        struct good_kernel *kernel = &g->kernels[k * g->n_dims + d];
        double at = tpe_points_at(p, of[k])[d];

        if (is_shaped && !isnan(at))
            set_kernel(a, kernel, at, width(g->sorted, n, at));
        else
            kernel->at = at;
    }
}

int
tpe_good_set(struct good *g, const struct points *p, const uint32_t *of,
             size_t n, double prior)
{
    if (make_room(g, n) != 0)
        return -1;
    g->n = n;
    set_weights(g, prior);
    for (size_t d = 0; d < g->n_dims; d++) {
        if (g->axes[d].kind == AXIS_CATEGORY)
            tpe_axis_category(&g->axes[d], n, &g->hit[d], &g->miss[d]);
        set_dimension(g, p, of, d);
    }
    return 0;
}

/* The category of a kernel around `at`: kept, or one like the other. */
static double
draw_category(const struct good *g, size_t d, double at, double share)
{
    double keep = num_exp(g->hit[d]) - num_exp(g->miss[d]);

    if (share < keep)
        return at;
    return tpe_axis_draw_prior(&g->axes[d], (share - keep) / (1 - keep));
}

/* The kernel of dimension d of the point that was drawn or, where that lacks
 * it, of the next that has it; NULL: none has. */
static const struct good_kernel *
kernel_for(const struct good *g, size_t drawn, size_t d)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct good_kernel *k =
            &g->kernels[(drawn + i) % g->n * g->n_dims + d];

        if (!isnan(k->at))
            return k;
    }
    return NULL;
}

static double
draw_in(const struct good *g, size_t drawn, size_t d, double share)
{
    const struct axis *a = &g->axes[d];
    const struct good_kernel *k = drawn < g->n ? kernel_for(g, drawn, d) : NULL;

    if (a->kind == AXIS_SINGLE)
        return 0;
    if (k == NULL)
        return tpe_axis_draw_prior(a, share);
    if (a->kind == AXIS_CATEGORY)
        return draw_category(g, d, k->at, share);
    return tpe_axis_draw(a, k->at, k->s, k->low + k->inside * share);
}

static void
draw_around(const struct good *g, size_t drawn, tpe_uniform *uniform, void *ctx,
            uint64_t id, uint32_t draw, double *x, struct place *at)
{
    for (size_t d = 0; d < g->n_dims; d++) {
        const struct axis *a = &g->axes[d];
        double share;

        x[d] = NAN;
        at[d] = (struct place){NAN, NAN, NAN};
        if (!tpe_axis_is_active(a, x))
            continue;
        share = uniform(ctx, id, (uint32_t)d, draw);
        x[d] = tpe_axis_value(a, draw_in(g, drawn, d, share));
        at[d] = tpe_axis_place(a, x[d]);
    }
}

void
tpe_good_draw(const struct good *g, tpe_uniform *uniform, void *ctx,
              uint64_t id, uint32_t draw, double *x, struct place *at)
{
    double share = uniform(ctx, id, (uint32_t)g->n_dims, draw);
    size_t k = 0;

    while (k < g->n && share >= g->weight[k])
        share -= g->weight[k++];
    draw_around(g, k, uniform, ctx, id, draw, x, at);
}

void
tpe_good_draw_prior(const struct good *g, tpe_uniform *uniform, void *ctx,
                    uint64_t id, uint32_t draw, double *x, struct place *at)
{
    draw_around(g, g->n, uniform, ctx, id, draw, x, at);
}

static double
log_mass(const struct good_kernel *k, struct place p)
{
    return tpe_axis_log_kernel(k->at, k->s, p) - num_log(k->inside);
}

/* From the kernel's table of cells where there may be one. */
static double
log_cell(const struct good *g, const struct axis *a, struct good_kernel *k,
         struct place p, size_t column)
{
    size_t n = (size_t)a->n;

    if (!has_cells(a) || g->n > CELLS_MOST)
        return log_mass(k, p);
    if (k->cells == NULL) {
        k->cells = malloc(n * sizeof *k->cells);
        if (k->cells == NULL) /* it goes without */
            return log_mass(k, p);
        for (size_t i = 0; i < n; i++)
            k->cells[i] = NAN;
    }
    if (isnan(k->cells[column]))
        k->cells[column] = log_mass(k, p);
    return k->cells[column];
}

/* Adds to v[k] what dimension d gives kernel k at the place p. */
static void
add_numeric(struct good *g, size_t d, struct place p, double prior, double *v)
{
    const struct axis *a = &g->axes[d];
    size_t column = has_cells(a) ? (size_t)tpe_axis_column(a, p.at) : 0;

    for (size_t k = 0; k < g->n; k++) {
        struct good_kernel *kernel = &g->kernels[k * g->n_dims + d];
        double z = p.at - kernel->at;

        if (isnan(z))
            v[k] += prior;
        else if (p.low < p.high)
            v[k] += log_cell(g, a, kernel, p, column);
        else
            v[k] += kernel->c - kernel->h * (z * z);
    }
}

static void
add_category(const struct good *g, size_t d, struct place p, double prior,
             double *v)
{
    for (size_t k = 0; k < g->n; k++) {
        double at = g->kernels[k * g->n_dims + d].at;

        v[k] += isnan(at) ? prior : at == p.at ? g->hit[d] : g->miss[d];
    }
}

static void
add_dimension(struct good *g, size_t d, struct place p, double *v)
{
    const struct axis *a = &g->axes[d];
    double prior;

    if (isnan(p.at) || a->kind == AXIS_SINGLE)
        return;
    prior = tpe_axis_log_prior(a, p);
    v[g->n] += prior;
    if (a->kind == AXIS_CATEGORY)
        add_category(g, d, p, prior, v);
    else
        add_numeric(g, d, p, prior, v);
}

void
tpe_good_score(struct good *g, const struct place *at, size_t n_at, double *v,
               double *out)
{
    for (size_t c = 0; c < n_at; c++) {
        for (size_t k = 0; k <= g->n; k++)
            v[k] = g->log_weight[k];
        for (size_t d = 0; d < g->n_dims; d++)
            add_dimension(g, d, at[c * g->n_dims + d], v);
        out[c] = num_log_sum_exp(v, g->n + 1);
    }
}
