/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Results are taken as they come: when as many have arrived as a generation
 * has points the distribution moves, whether they were drawn from it or from
 * an earlier one.  So nothing waits for a trial that never ends, and what
 * arrives late still counts; its step is shortened to a length that could
 * have been drawn (N. Hansen, "Injecting External Solutions Into CMA-ES",
 * arXiv:1110.4181, 2011).  What was drawn before a restart is only
 * remembered. */
#include "cmaes/state.h"

#include "cmaes/axis.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the points that leaves the cells of the mean, at least. */
#define SEEN_ELSEWHERE 0.73

static int
compare(const void *va, const void *vb)
{
    const struct cmaes_point *a = va, *b = vb;

    if (cmaes_point_is_better(a, b) || cmaes_point_is_better(b, a))
        return cmaes_point_is_better(a, b) ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Equal results have equal weights.  When nearly all are equally good the
 * negative weights among theirs outweigh the positive ones, and there would be
 * nothing to move to: then they share the positive ones, whose sum is 1. */
static void
level_ties(const struct cmaes_points *list, double *w)
{
    for (size_t from = 0, end; from < list->n; from = end) {
        double sum = w[from];

        for (end = from + 1; end < list->n; end++) {
            if (cmaes_point_is_better(&list->at[from], &list->at[end]))
                break;
            sum += w[end];
        }
        if (from == 0 && !(sum > 0))
            sum = 1;
        for (size_t i = from; i < end; i++)
            w[i] = sum / (double)(end - from);
    }
}

/* The point's step from the mean, in units of sigma. */
static void
step_of(const struct cmaes *c, const struct cmaes_point *p, double *y)
{
    const struct cmaes_gauss *g = &c->gauss;
    double n = (double)c->n_line, most = num_sqrt(n) + 2 * n / (n + 2);
    double sum = 0;

    for (size_t i = 0; i < c->n_line; i++)
        y[i] = (p->u[i] - g->mean[i]) / (g->sigma * c->stretch[i]);
    if (p->born == c->generation && p->id != CMAES_NO_ID)
        return;
    cmaes_gauss_whiten(g, y, c->z);
    for (size_t i = 0; i < c->n_line; i++)
        sum += c->z[i] * c->z[i];
    sum = num_sqrt(sum);
    for (size_t i = 0; i < c->n_line && sum > most; i++)
        y[i] *= most / sum;
}

/* What the mean moves by: each parameter by those that had it. */
static void
shift_of(const struct cmaes *c, const double *y, const double *w, double *shift)
{
    const struct cmaes_gauss *g = &c->gauss;

    for (size_t i = 0; i < c->n_line; i++) {
        double sum = 0;

        for (size_t k = 0; k < c->arrived.n; k++)
            if (w[k] > 0 &&
                cmaes_point_is_active(c, &c->arrived.at[k], c->line[i]))
                sum += w[k] * y[k * c->n_line + i];
        shift[i] = sum * g->sigma * c->stretch[i];
    }
}

static void
move_categories(struct cmaes *c, const double *w, uint32_t *picks)
{
    for (size_t k = 0; k < c->arrived.n; k++)
        memcpy(picks + k * c->n_pick, c->arrived.at[k].pick,
               c->n_pick * sizeof *picks);
    cmaes_categories_update(&c->categories, picks, w, c->arrived.n);
}

/* Moves the distribution to the ranked points. */
static int
move(struct cmaes *c)
{
    size_t n = c->n_line, n_points = c->arrived.n;
    double *w = calloc(n_points + n + n_points * n + 1, sizeof *w);
    uint32_t *picks = calloc(n_points * c->n_pick + 1, sizeof *picks);
    double *shift, *y;
    int rc = -1;

    if (w == NULL || picks == NULL)
        goto out;
    shift = w + n_points;
    y = shift + n;
    cmaes_gauss_weights(n, n_points, w);
    level_ties(&c->arrived, w);
    for (size_t k = 0; k < n_points; k++)
        step_of(c, &c->arrived.at[k], y + k * n);
    shift_of(c, y, w, shift);
    cmaes_gauss_update(&c->gauss, y, w, n_points, shift);
    for (size_t k = 0; k < n_points; k++)
        if (w[k] < 0)
            w[k] = 0;
    move_categories(c, w, picks);
    cmaes_margins(c);
    rc = 0;
out:
    free(w);
    free(picks);
    return rc;
}

static void
margin(struct cmaes *c, size_t i, double least)
{
    struct cmaes_gauss *g = &c->gauss;
    const struct cmaes_dim *d = &c->dims[c->line[i]];
    double deviation, low, high, need;

    g->mean[i] = cmaes_axis_clip(d, g->mean[i]);
    c->stretch[i] = 1;
    if (!cmaes_axis_has_cells(d) ||
        !cmaes_axis_cell(d, g->mean[i], &low, &high))
        return;
    low = g->mean[i] - low;
    high = high - g->mean[i];
    deviation = cmaes_gauss_deviation(g, i);
    if (isinf(low) || isinf(high))
        need = (isinf(low) ? high : low) / -num_normal_quantile(least);
    else
        need = (low > high ? low : high) / -num_normal_quantile(least / 2);
    if (deviation < need && deviation > 0)
        c->stretch[i] = need / deviation;
}

void
cmaes_margins(struct cmaes *c)
{
    size_t n = c->n_pick;
    double least;

    for (size_t i = 0; i < c->n_line; i++)
        n += cmaes_axis_has_cells(&c->dims[c->line[i]]);
    /* 1 - 0.73^(1/n) */
    least = n > 0 ? 1 - num_exp(num_log(SEEN_ELSEWHERE) / (double)n) : 0;
    for (size_t i = 0; i < c->n_line; i++)
        margin(c, i, least);
    c->categories.margin = least;
}

int
cmaes_arrive(struct cmaes *c, struct cmaes_point *p)
{
    const struct cmaes_points *list = &c->arrived;
    double best, worst;
    int rc = 0;

    if (p->class == CMAES_FINAL && p->value < c->best)
        c->best = p->value;
    if (p->era != c->restart.era) {
        cmaes_point_fini(p);
        return 0;
    }
    p->order = list->n;
    if (cmaes_points_insert(&c->arrived, list->n, p) != 0)
        return -1;
    if (list->n < c->population)
        return 0;
    qsort(c->arrived.at, list->n, sizeof *list->at, compare);
    best = list->at[0].class == CMAES_FAILED ? INFINITY : list->at[0].value;
    worst = list->at[list->n - 1].class == CMAES_FAILED
                ? INFINITY
                : list->at[list->n - 1].value;
    /* Nothing is learnt from results that are all the same. */
    if (cmaes_point_is_better(&list->at[0], &list->at[list->n - 1]))
        rc = move(c);
    c->generation++;
    c->restart.used[c->restart.is_small] += list->n;
    cmaes_points_clear(&c->arrived);
    if (rc == 0 && cmaes_restart_is_due(c, best, worst))
        rc = cmaes_restart(c, true);
    return rc;
}
