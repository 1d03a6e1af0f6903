/* SPDX-License-Identifier: MIT */
#include "anneal/state.h"

void
anneal_save(const struct anneal *a, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, a->n_results);
    sink->f64(sink->ctx, a->n_results > 0 ? a->least : 0);
    sink->f64(sink->ctx, a->n_results > 0 ? a->greatest : 0);
    sink->f64(sink->ctx, a->sum);
    for (size_t i = 0; i < a->n_groups; i++)
        sink->u64(sink->ctx, a->groups[i].count);
    sink->u64(sink->ctx, a->n_points);
    for (size_t i = 0; i < a->n_points; i++) {
        const struct anneal_point *p = a->points[i];

        sink->u64(sink->ctx, p->order);
        sink->u64(sink->ctx, p->id);
        sink->f64(sink->ctx, p->loss);
        sink->f64s(sink->ctx, p->x, a->prior.n_dims);
    }
    sink->u64(sink->ctx, a->n_pending);
    for (size_t i = 0; i < a->n_pending; i++) {
        sink->u64(sink->ctx, a->pending[i].id);
        sink->f64s(sink->ctx, a->pending[i].x, a->prior.n_dims);
    }
}

/* A point's coordinates, to be freed; NULL: *wrong says why. */
static double *
load_x(const struct anneal *a, const struct tp_source *s, const char **wrong)
{
    size_t n_dims = a->prior.n_dims;
    double *x = NULL;

    *wrong = "a saved point is none of this search space";
    if (s->left(s->ctx) / sizeof *x < n_dims)
        return NULL;
    x = malloc((n_dims + 1) * sizeof *x);
    if (x == NULL) {
        *wrong = "out of memory";
    } else if (s->f64s(s->ctx, x, n_dims) != TP_OK ||
               !prior_holds(&a->prior, x)) {
        free(x);
        x = NULL;
    }
    return x;
}

/* Points come in the order of their results. */
static const char *
load_point(struct anneal *a, const struct tp_source *s, uint64_t *next)
{
    const char *wrong;
    uint64_t order, id;
    double loss, *x;
    int rc;

    if (s->u64(s->ctx, &order) != TP_OK || s->u64(s->ctx, &id) != TP_OK ||
        s->f64(s->ctx, &loss) != TP_OK || isnan(loss) || order < *next ||
        order >= a->n_results)
        return "a saved result is out of order";
    *next = order + 1;
    x = load_x(a, s, &wrong);
    if (x == NULL)
        return wrong;
    rc = anneal_enter(a, id, order, x, loss);
    free(x);
    return rc == 0 ? NULL : "out of memory";
}

static const char *
load_pending(struct anneal *a, const struct tp_source *s)
{
    const char *wrong = "a saved trial is cut off";
    uint64_t id;
    double *x;
    int rc;

    if (s->u64(s->ctx, &id) != TP_OK || (x = load_x(a, s, &wrong)) == NULL)
        return wrong;
    rc = anneal_pend(a, id, x);
    free(x);
    return rc == 0 ? NULL : "out of memory";
}

/* Of each group as many are listed as there are, or all that are looked at. */
static const char *
check_counts(const struct anneal *a)
{
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct anneal_group *g = &a->groups[i];
        uint64_t want = g->count < ANNEAL_BEST ? g->count : ANNEAL_BEST;

        if (g->n_best < want || g->count < g->n_best || g->count > a->n_results)
            return "the saved results are not all there";
    }
    return NULL;
}

const char *
anneal_load(struct anneal *a, const struct tp_source *s)
{
    const char *wrong = NULL;
    uint64_t n, next = 0;

    if (s->u64(s->ctx, &a->n_results) != TP_OK ||
        s->f64(s->ctx, &a->least) != TP_OK ||
        s->f64(s->ctx, &a->greatest) != TP_OK ||
        s->f64(s->ctx, &a->sum) != TP_OK)
        return "the saved results are cut off";
    for (size_t i = 0; i < a->n_groups; i++)
        if (s->u64(s->ctx, &a->groups[i].count) != TP_OK)
            return "the saved results are cut off";
    if (s->u64(s->ctx, &n) != TP_OK)
        return "the saved results are cut off";
    while (wrong == NULL && n-- > 0)
        wrong = load_point(a, s, &next);
    if (wrong == NULL)
        wrong = check_counts(a);
    if (wrong == NULL && s->u64(s->ctx, &n) != TP_OK)
        wrong = "the saved trials are cut off";
    while (wrong == NULL && n-- > 0)
        wrong = load_pending(a, s);
    return wrong;
}
