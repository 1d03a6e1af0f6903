/* SPDX-License-Identifier: MIT */
#include "tpe/good.h"

#include "batch.h"
#include "elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define WIDTHS_LEAST 100 /* of the range into so many, however many kernels */
#define CAPACITY_LEAST 8
#define CELLS_MOST 64 /* values of a dimension, and kernels, for tables */

static int
has_cells(const struct axis *a)
{
    return a->kind == AXIS_RANGE && a->n > 0 && a->n <= CELLS_MOST;
}

int
tpe_good_init(struct good *g, const struct axis *axes, size_t n_dims)
{
    *g = (struct good){.axes = axes, .n_dims = n_dims};
    g->dims = calloc(n_dims + 1, sizeof *g->dims);
    return g->dims == NULL ? -1 : 0;
}

static void
free_kernels(struct good *g)
{
    for (size_t d = 0; g->dims != NULL && d < g->n_dims; d++) {
        free(g->dims[d].at); /* with what lies behind it */
        for (size_t i = 0; i < g->dims[d].n_columns; i++)
            free(g->dims[d].rows[i]);
        free(g->dims[d].rows);
        g->dims[d] = (struct good_dim){.at = NULL};
    }
    free(g->of);
    free(g->slot);
    free(g->weight);
    free(g->log_weight);
    free(g->v);
    free(g->scratch);
    free(g->spare);
    g->capacity = g->n = g->used = 0;
    g->of = g->slot = g->spare = NULL;
    g->weight = g->log_weight = g->v = g->scratch = NULL;
}

void
tpe_good_fini(struct good *g)
{
    free_kernels(g);
    free(g->dims);
    *g = (struct good){.n_dims = 0};
}

static int
make_dim(const struct axis *a, size_t n, struct good_dim *dim)
{
    double *all = calloc(n * 7, sizeof *all);

    *dim = (struct good_dim){.at = all};
    if (all == NULL)
        return -1;
    dim->s = all + n;
    dim->low = all + n * 2;
    dim->inside = all + n * 3;
    dim->log_inside = all + n * 4;
    dim->h = all + n * 5;
    dim->c = all + n * 6;
    if (!has_cells(a) || n > CELLS_MOST)
        return 0;
    dim->rows = calloc((size_t)a->n, sizeof *dim->rows);
    dim->n_columns = dim->rows == NULL ? 0 : (size_t)a->n;
    return dim->rows == NULL ? -1 : 0;
}

static int
make_room(struct good *g, size_t n)
{
    if (n <= g->capacity && g->capacity > 0)
        return 0;
    if (n < g->capacity * 2)
        n = g->capacity * 2;
    free_kernels(g);
    n = n == 0 ? GOOD_LANES : (n + GOOD_LANES - 1) / GOOD_LANES * GOOD_LANES;
    for (size_t d = 0; d < g->n_dims; d++)
        if (make_dim(&g->axes[d], n, &g->dims[d]) != 0)
            return -1;
    g->of = calloc(n, sizeof *g->of);
    g->slot = calloc(n, sizeof *g->slot);
    g->weight = calloc(n + 1, sizeof *g->weight);
    g->log_weight = calloc(n + 1, sizeof *g->log_weight);
    g->v = calloc(n + 1, sizeof *g->v);
    g->scratch = calloc(n * 3 + 1, sizeof *g->scratch);
    g->spare = calloc(n * 2, sizeof *g->spare);
    if (g->of == NULL || g->slot == NULL || g->weight == NULL ||
        g->log_weight == NULL || g->v == NULL || g->scratch == NULL ||
        g->spare == NULL)
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
set_kernel(const struct axis *a, struct good_dim *dim, size_t i, double s)
{
    double at = dim->at[i];

    dim->s[i] = s;
    dim->low[i] = tpe_axis_below(a, at, s, 0);
    dim->inside[i] = tpe_axis_below(a, at, s, 1) - dim->low[i];
    dim->log_inside[i] = num_log(dim->inside[i]);
    dim->h[i] = 0.5 / (s * s);
    dim->c[i] = -LOG_SQRT_2_PI - num_log(s * dim->inside[i]);
}

static void
forget_cells(const struct good *g, struct good_dim *dim, size_t i)
{
    for (size_t column = 0; column < dim->n_columns; column++)
        if (dim->rows[column] != NULL)
            dim->rows[column][i] = dim->rows[column][g->capacity] = NAN;
}

/* Kernels that have moved, or have other neighbours. */
static void
set_dimension(struct good *g, const struct points *p, size_t d, bool same_n)
{
    const struct axis *a = &g->axes[d];
    struct good_dim *dim = &g->dims[d];
    bool is_shaped = a->kind == AXIS_RANGE || a->kind == AXIS_NORMAL;
    double *sorted = g->scratch;
    bool same = same_n;
    size_t n = 0;

    for (size_t k = 0; k < g->n; k++) {
        size_t i = g->slot[k];
        double at = tpe_points_at(p, g->of[i])[d];

        if (!isnan(at))
            sorted[n++] = at;
        if (at == dim->at[i] || (isnan(at) && isnan(dim->at[i])))
            continue;
        same = false;
        dim->at[i] = at;
        dim->s[i] = 0;
        forget_cells(g, dim, i);
    }
    if (same || !is_shaped)
        return;
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t k = 0; k < g->n; k++) {
        size_t i = g->slot[k];
        double s = isnan(dim->at[i]) ? 0 : width(sorted, n, dim->at[i]);

        if (s == dim->s[i])
            continue;
        set_kernel(a, dim, i, s);
        forget_cells(g, dim, i);
    }
}

/* A slot for each of the n points: that which it has, or one that is free. */
static void
set_slots(struct good *g, const uint32_t *of, size_t n)
{
    uint32_t *old = g->spare, *is_free = old + g->capacity;
    size_t next = 0, was = g->n;

    for (size_t i = 0; i < g->used; i++)
        is_free[i] = 1;
    memcpy(old, g->slot, was * sizeof *old);
    for (size_t k = 0, at = 0; k < n; k++) {
        size_t tries = was;

        /* What was the next better one is the likeliest. */
        while (tries > 0 && g->of[old[at % was]] != of[k]) {
            at++;
            tries--;
        }
        g->slot[k] = tries > 0 ? old[at++ % was] : UINT32_MAX;
        if (tries > 0)
            is_free[g->slot[k]] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        if (g->slot[k] != UINT32_MAX)
            continue;
        while (next < g->used && !is_free[next])
            next++;
        g->slot[k] = (uint32_t)next;
        g->of[next++] = of[k];
        if (next > g->used)
            g->used = next;
    }
    g->n = n;
}

int
tpe_good_set(struct good *g, const struct points *p, const uint32_t *of,
             size_t n, double prior)
{
    bool same_n;

    if (make_room(g, n) != 0)
        return -1;
    same_n = n == g->n;
    set_slots(g, of, n);
    if (!same_n)
        set_weights(g, prior);
    for (size_t d = 0; d < g->n_dims; d++) {
        struct good_dim *dim = &g->dims[d];

        if (g->axes[d].kind == AXIS_CATEGORY && !same_n) {
            tpe_axis_category(&g->axes[d], n, &dim->hit, &dim->miss);
            dim->keep = num_exp(dim->hit) - num_exp(dim->miss);
        }
        set_dimension(g, p, d, same_n);
    }
    return 0;
}

/* The category of a kernel around `at`: kept, or one like the other. */
static double
draw_category(const struct good *g, size_t d, double at, double share)
{
    double keep = g->dims[d].keep;

    if (share < keep)
        return at;
    return tpe_axis_draw_prior(&g->axes[d], (share - keep) / (1 - keep));
}

/* The slot of the point that was drawn or, where that lacks dimension d, of the
 * next that has it; used: none has. */
static size_t
slot_for(const struct good *g, size_t drawn, size_t d)
{
    for (size_t i = 0; i < g->n; i++) {
        size_t slot = g->slot[(drawn + i) % g->n];

        if (!isnan(g->dims[d].at[slot]))
            return slot;
    }
    return g->used;
}

static double
draw_in(const struct good *g, size_t drawn, size_t d, double share)
{
    const struct axis *a = &g->axes[d];
    const struct good_dim *dim = &g->dims[d];
    size_t i = drawn < g->n ? slot_for(g, drawn, d) : g->used;

    if (a->kind == AXIS_SINGLE)
        return 0;
    if (i == g->used)
        return tpe_axis_draw_prior(a, share);
    if (a->kind == AXIS_CATEGORY)
        return draw_category(g, d, dim->at[i], share);
    return tpe_axis_draw(a, dim->at[i], dim->s[i],
                         dim->low[i] + dim->inside[i] * share);
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

/* The masses of a cell under the kernels, as far as they are not yet known. */
static void
fill_row(const struct good *g, const struct good_dim *dim, struct place p,
         double prior, double *row)
{
    double *low = g->scratch, *high = low + g->capacity;
    uint32_t *which = g->spare;
    size_t n = 0;

    for (size_t i = 0; i < g->used; i++) {
        if (!isnan(row[i]))
            continue;
        row[i] = prior;
        if (isnan(dim->at[i]))
            continue;
        low[n] = (p.low - dim->at[i]) / dim->s[i];
        high[n] = (p.high - dim->at[i]) / dim->s[i];
        which[n++] = (uint32_t)i;
    }
    tpe_axis_log_masses(low, high, n);
    for (size_t i = 0; i < n; i++)
        row[which[i]] = low[i] - dim->log_inside[which[i]];
    row[g->capacity] = 0;
}

/* NULL: there is no table, or no memory for it. */
static double *
row_of(const struct good *g, const struct axis *a, struct good_dim *dim,
       double at)
{
    double **row;

    if (dim->rows == NULL)
        return NULL;
    row = &dim->rows[(size_t)tpe_axis_column(a, at)];
    if (*row != NULL)
        return *row;
    *row = malloc((g->capacity + 1) * sizeof **row);
    for (size_t i = 0; *row != NULL && i <= g->capacity; i++)
        (*row)[i] = NAN;
    return *row;
}

/* The loops over lanes have a fixed length, so that compilers make vectors of
 * them. */
static void
add_row(double *restrict v, const double *restrict row)
{
    for (size_t l = 0; l < GOOD_LANES; l++)
        v[l] += row[l];
}

static void
add_cell(struct good *g, size_t d, struct place p, double prior)
{
    struct good_dim *dim = &g->dims[d];
    double *row = row_of(g, &g->axes[d], dim, p.at);

    if (row == NULL) {
        row = g->scratch + g->capacity * 2;
        for (size_t i = 0; i <= g->capacity; i++)
            row[i] = NAN;
    }
    if (isnan(row[g->capacity]))
        fill_row(g, dim, p, prior, row);
    for (size_t i = 0; i < g->used; i += GOOD_LANES)
        add_row(g->v + i, row + i);
}

static void
add_density(double *restrict v, const double *restrict at,
            const double *restrict h, const double *restrict c, double x,
            double prior)
{
    double known[GOOD_LANES];

    for (size_t l = 0; l < GOOD_LANES; l++)
        known[l] = c[l] - h[l] * ((x - at[l]) * (x - at[l]));
    for (size_t l = 0; l < GOOD_LANES; l++)
        v[l] += at[l] == at[l] ? known[l] : prior;
}

static void
add_category(double *restrict v, const double *restrict at,
             const struct good_dim *dim, double x, double prior)
{
    double hit = dim->hit, miss = dim->miss;

    for (size_t l = 0; l < GOOD_LANES; l++) {
        double known = at[l] == x ? hit : miss;

        v[l] += at[l] == at[l] ? known : prior;
    }
}

/* Adds to v what dimension d gives each kernel at the place p; returns what it
 * gives the prior. */
static double
add_dimension(struct good *g, size_t d, struct place p)
{
    const struct axis *a = &g->axes[d];
    const struct good_dim *dim = &g->dims[d];
    double prior = tpe_axis_log_prior(a, p);

    if (a->kind != AXIS_CATEGORY && p.low < p.high) {
        add_cell(g, d, p, prior);
        return prior;
    }
    for (size_t i = 0; i < g->used; i += GOOD_LANES)
        if (a->kind == AXIS_CATEGORY)
            add_category(g->v + i, dim->at + i, dim, p.at, prior);
        else
            add_density(g->v + i, dim->at + i, dim->h + i, dim->c + i, p.at,
                        prior);
    return prior;
}

static double
score(struct good *g, const struct place *at)
{
    double *v = g->scratch, prior = g->log_weight[g->n];

    for (size_t k = 0; k < g->n; k++)
        g->v[g->slot[k]] = g->log_weight[k];
    for (size_t d = 0; d < g->n_dims; d++)
        if (!isnan(at[d].at) && g->axes[d].kind != AXIS_SINGLE)
            prior += add_dimension(g, d, at[d]);
    for (size_t k = 0; k < g->n; k++) /* in the order of ranks */
        v[k] = g->v[g->slot[k]];
    v[g->n] = prior;
    return num_log_sum_exp(v, g->n + 1);
}

void
tpe_good_score(struct good *g, const struct place *at, size_t n_at, double *out)
{
    for (size_t c = 0; c < n_at; c++)
        out[c] = score(g, at + c * g->n_dims);
}
