/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A vector holds an index into each dimension's list and counts like an
 * odometer.  A dimension's list only grows, so a vector all of whose indexes
 * are below the lengths of the epoch before has been visited.
 *
 * A continuous dimension keeps the intervals (l, r) of quantiles in which
 * values differ.  Halving at m, the middle joins the list when its value is
 * new: different from both ends, where 0 and 1 are not in the list themselves
 * and so need not differ.  Halves whose ends have different values stay. */
#include "grid/grid.h"

#include "elementary.h"
#include "grow.h"
#include "tunepipe/plugin.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>

struct interval {
    double l, r;
};

struct axis {
    struct grid_dim dim;
    uint64_t length, bar; /* of this epoch and the one before */
    double *points;       /* continuous: internal coordinates */
    struct interval *intervals;
    size_t n_points, n_intervals;
};

struct grid {
    struct axis *axes;
    uint64_t *vector;
    size_t n;
    uint64_t epoch;
    int started, ended;
    grid_value *value;
    void *ctx;
};

static double
coordinate(const struct grid_dim *d, double p)
{
    if (d->is_normal)
        return d->mu + d->sigma * num_normal_quantile(p);
    return d->low + (d->high - d->low) * p;
}

static int
is_less(const struct grid *g, size_t i, double p, double q)
{
    const struct grid_dim *d = &g->axes[i].dim;

    return g->value(g->ctx, i, coordinate(d, p)) <
           g->value(g->ctx, i, coordinate(d, q));
}

/* The median, and the halves beside it. */
static int
start_axis(struct grid *g, size_t i)
{
    struct axis *a = &g->axes[i];

    a->length = a->dim.n_choices;
    if (a->length > 0)
        return 0;
    a->points = malloc(sizeof *a->points);
    a->intervals = malloc(2 * sizeof *a->intervals);
    if (a->points == NULL || a->intervals == NULL)
        return -1;
    a->points[a->n_points++] = coordinate(&a->dim, 0.5);
    if (is_less(g, i, 0, 0.5))
        a->intervals[a->n_intervals++] = (struct interval){0, 0.5};
    if (is_less(g, i, 0.5, 1))
        a->intervals[a->n_intervals++] = (struct interval){0.5, 1};
    a->length = a->n_points;
    return 0;
}

struct grid *
grid_new(const struct grid_dim *dims, size_t n, grid_value *value, void *ctx)
{
    struct grid *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->value = value;
    g->ctx = ctx;
    g->axes = calloc(n, sizeof *g->axes);
    g->vector = calloc(n, sizeof *g->vector);
    if (g->axes == NULL || g->vector == NULL)
        goto fail;
    g->n = n;
    for (size_t i = 0; i < n; i++)
        g->axes[i].dim = dims[i];
    for (size_t i = 0; i < n; i++)
        if (start_axis(g, i) != 0)
            goto fail;
    return g;

fail:
    grid_free(g);
    return NULL;
}

void
grid_free(struct grid *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->n; i++) {
        free(g->axes[i].points);
        free(g->axes[i].intervals);
    }
    free(g->axes);
    free(g->vector);
    free(g);
}

/* Room for a new point and two new intervals out of each old one. */
static struct interval *
make_room(struct axis *a)
{
    size_t n = a->n_points + a->n_intervals;

    if (grow_to(&a->points, n, sizeof *a->points) != 0)
        return NULL;
    return malloc(2 * a->n_intervals * sizeof(struct interval));
}

/* Halves the intervals of one dimension; whether anything came of it goes to
 * *updated. */
static int
halve_axis(struct grid *g, size_t i, int *updated)
{
    struct axis *a = &g->axes[i];
    struct interval *halves;
    size_t n = 0;

    if (a->n_intervals == 0)
        return 0;
    halves = make_room(a);
    if (halves == NULL)
        return -1;
    for (size_t k = 0; k < a->n_intervals; k++) {
        double l = a->intervals[k].l, r = a->intervals[k].r, m = (l + r) / 2;
        int left, right;

        if (m <= l || m >= r)
            continue; /* doubles end here */
        left = is_less(g, i, l, m);
        right = is_less(g, i, m, r);
        if ((left || l == 0) && (right || r == 1)) {
            a->points[a->n_points++] = coordinate(&a->dim, m);
            *updated = 1;
        }
        if (left) {
            halves[n++] = (struct interval){l, m};
            *updated |= l == 0;
        }
        if (right) {
            halves[n++] = (struct interval){m, r};
            *updated |= r == 1;
        }
    }
    free(a->intervals);
    a->intervals = halves;
    a->n_intervals = n;
    a->length = a->n_points;
    return 0;
}

/* The next epoch that has new vectors. */
static int
refine(struct grid *g)
{
    int updated, grown;

    do {
        updated = grown = 0;
        for (size_t i = 0; i < g->n; i++) {
            struct axis *a = &g->axes[i];

            a->bar = a->length;
            if (halve_axis(g, i, &updated) != 0)
                return GRID_MEMORY;
            grown |= a->length > a->bar;
        }
        g->epoch++;
    } while (updated && !grown);
    g->ended = !updated;
    return g->ended ? GRID_END : GRID_POINT;
}

static int
is_active(const struct grid *g, size_t i)
{
    const struct grid_dim *d = &g->axes[i].dim;

    for (; d->parent != GRID_NO_PARENT; d = &g->axes[d->parent].dim)
        if (g->vector[d->parent] != d->parent_choice)
            return 0;
    return 1;
}

/* False at the end of the epoch; the vector is all zeros then. */
static int
advance(struct grid *g)
{
    for (size_t i = g->n; i-- > 0;) {
        if (!is_active(g, i))
            continue; /* stays 0 */
        if (g->vector[i] + 1 < g->axes[i].length) {
            g->vector[i]++;
            return 1;
        }
        g->vector[i] = 0;
    }
    return 0;
}

static int
is_old(const struct grid *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->vector[i] >= g->axes[i].bar)
            return 0;
    return 1;
}

int
grid_next(struct grid *g, double *x)
{
    do {
        int rc;

        if (g->ended)
            return GRID_END;
        if (!g->started)
            g->started = 1;
        else if (!advance(g) && (rc = refine(g)) != GRID_POINT)
            return rc;
    } while (is_old(g));
    for (size_t i = 0; i < g->n; i++) {
        const struct axis *a = &g->axes[i];

        if (!is_active(g, i))
            x[i] = NAN;
        else if (a->dim.n_choices > 0)
            x[i] = (double)g->vector[i];
        else
            x[i] = a->points[g->vector[i]];
    }
    return GRID_POINT;
}

uint64_t
grid_length(const struct grid *g, size_t i)
{
    return g->axes[i].length;
}

uint64_t
grid_epoch(const struct grid *g)
{
    return g->epoch;
}

/* ---- saving ---- */

void
grid_save(const struct grid *g, const struct tp_sink *sink)
{
    tp_put_u64(sink, g->epoch);
    tp_put_u64(sink, (uint64_t)g->started);
    tp_put_u64(sink, (uint64_t)g->ended);
    for (size_t i = 0; i < g->n; i++) {
        const struct axis *a = &g->axes[i];

        tp_put_u64(sink, g->vector[i]);
        if (a->dim.n_choices > 0)
            continue;
        tp_put_u64(sink, a->bar);
        tp_put_u64(sink, a->n_points);
        tp_put_f64s(sink, a->points, a->n_points);
        tp_put_u64(sink, a->n_intervals);
        for (size_t k = 0; k < a->n_intervals; k++) {
            tp_put_f64(sink, a->intervals[k].l);
            tp_put_f64(sink, a->intervals[k].r);
        }
    }
}

/* A count of things of so many bytes, of which there are enough. */
static int
read_count(const struct tp_source *source, size_t size, size_t *out)
{
    uint64_t n;

    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / size)
        return -1;
    *out = (size_t)n;
    return 0;
}

/* Rounding may lead a little beyond the ends. */
static int
is_point(const struct grid_dim *d, double x)
{
    double slack = (d->high - d->low) * 1e-9;

    if (d->is_normal)
        return !isnan(x);
    return x >= d->low - slack && x <= d->high + slack;
}

static const char *
load_points(struct axis *a, const struct tp_source *source)
{
    size_t n;

    if (read_count(source, sizeof *a->points, &n) != 0 || n == 0 || a->bar > n)
        return "the number of its values is damaged";
    free(a->points);
    a->points = malloc(n * sizeof *a->points);
    if (a->points == NULL)
        return "out of memory";
    tp_get_f64s(source, a->points, n);
    for (size_t k = 0; k < n; k++)
        if (!is_point(&a->dim, a->points[k]))
            return "its values are damaged";
    a->length = a->n_points = n;
    return NULL;
}

static const char *
load_intervals(struct axis *a, const struct tp_source *source)
{
    size_t n;

    if (read_count(source, sizeof *a->intervals, &n) != 0)
        return "the number of its intervals is damaged";
    free(a->intervals);
    a->intervals = malloc(n * sizeof *a->intervals + 1);
    if (a->intervals == NULL)
        return "out of memory";
    a->n_intervals = n;
    for (size_t k = 0; k < n; k++) {
        struct interval *v = &a->intervals[k];

        tp_get_f64(source, &v->l);
        tp_get_f64(source, &v->r);
        if (!(v->l >= 0 && v->l < v->r && v->r <= 1))
            return "its intervals are damaged";
    }
    return NULL;
}

static const char *
load_axis(struct grid *g, size_t i, const struct tp_source *source)
{
    struct axis *a = &g->axes[i];
    const char *why = NULL;

    tp_get_u64(source, &g->vector[i]);
    if (a->dim.n_choices > 0) {
        a->bar = g->epoch > 0 ? a->length : 0;
    } else {
        tp_get_u64(source, &a->bar);
        why = load_points(a, source);
        if (why == NULL)
            why = load_intervals(a, source);
    }
    return why == NULL && g->vector[i] >= a->length ? "its place is damaged"
                                                    : why;
}

const char *
grid_load(struct grid *g, const struct tp_source *source)
{
    const char *why = NULL;
    uint64_t started, ended;

    if (tp_get_u64(source, &g->epoch) != TP_OK ||
        tp_get_u64(source, &started) != TP_OK ||
        tp_get_u64(source, &ended) != TP_OK || started > 1 || ended > 1)
        return "the state of the grid is damaged";
    g->started = (int)started;
    g->ended = (int)ended;
    for (size_t i = 0; i < g->n && why == NULL; i++)
        why = load_axis(g, i, source);
    return why;
}
