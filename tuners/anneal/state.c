/* SPDX-License-Identifier: MIT */
#include "anneal/state.h"

#include "tunepipe/shell.h"

void
anneal_save(const struct anneal *a, const struct tp_sink *sink)
{
    tp_put_u64(sink, a->n_results);
    tp_put_f64(sink, a->n_results > 0 ? a->least : 0);
    tp_put_f64(sink, a->n_results > 0 ? a->greatest : 0);
    tp_put_f64(sink, a->sum);
    for (size_t i = 0; i < a->n_groups; i++)
        tp_put_u64(sink, a->groups[i].count);
    tp_put_u64(sink, a->n_points);
    for (size_t i = 0; i < a->n_points; i++) {
        const struct anneal_point *p = a->points[i];

        tp_put_u64(sink, p->order);
        tp_put_u64(sink, p->id);
        tp_put_f64(sink, p->loss);
        tp_put_f64s(sink, p->x, a->prior.n_dims);
    }
    tp_put_u64(sink, a->n_pending);
    for (size_t i = 0; i < a->n_pending; i++) {
        tp_put_u64(sink, a->pending[i].id);
        tp_put_f64s(sink, a->pending[i].x, a->prior.n_dims);
    }
}

/* A point's coordinates, to be freed; NULL: *wrong says why. */
static double *
load_x(const struct anneal *a, const struct tp_source *s, const char **wrong)
{
    size_t n_dims = a->prior.n_dims;
    double *x = NULL;

    *wrong = "a saved point is none of this search space";
    if (tp_left(s) / sizeof *x < n_dims)
        return NULL;
    x = malloc((n_dims + 1) * sizeof *x);
    if (x == NULL) {
        *wrong = "out of memory";
    } else if (tp_get_f64s(s, x, n_dims) != TP_OK ||
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

    if (tp_get_u64(s, &order) != TP_OK || tp_get_u64(s, &id) != TP_OK ||
        tp_get_f64(s, &loss) != TP_OK || isnan(loss) || order < *next ||
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

    if (tp_get_u64(s, &id) != TP_OK || (x = load_x(a, s, &wrong)) == NULL)
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

    if (tp_get_u64(s, &a->n_results) != TP_OK ||
        tp_get_f64(s, &a->least) != TP_OK ||
        tp_get_f64(s, &a->greatest) != TP_OK || tp_get_f64(s, &a->sum) != TP_OK)
        return "the saved results are cut off";
    for (size_t i = 0; i < a->n_groups; i++)
        if (tp_get_u64(s, &a->groups[i].count) != TP_OK)
            return "the saved results are cut off";
    if (tp_get_u64(s, &n) != TP_OK)
        return "the saved results are cut off";
    while (wrong == NULL && n-- > 0)
        wrong = load_point(a, s, &next);
    if (wrong == NULL)
        wrong = check_counts(a);
    if (wrong == NULL && tp_get_u64(s, &n) != TP_OK)
        wrong = "the saved trials are cut off";
    while (wrong == NULL && n-- > 0)
        wrong = load_pending(a, s);
    return wrong;
}
