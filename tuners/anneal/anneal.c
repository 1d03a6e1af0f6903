/* SPDX-License-Identifier: MIT */
#include "anneal/anneal.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <string.h>

struct anneal *
anneal_new(enum anneal_lie lie, struct prior_random random)
{
    struct anneal *a = calloc(1, sizeof *a);

    if (a == NULL)
        return NULL;
    a->lie = lie;
    a->random = random;
    return a;
}

static void
point_free(struct anneal_point *p)
{
    free(p->x);
    free(p);
}

static void
forget(struct anneal *a)
{
    for (size_t i = 0; i < a->n_points; i++)
        point_free(a->points[i]);
    for (size_t i = 0; i < a->n_pending; i++)
        free(a->pending[i].x);
    a->n_points = 0;
    a->n_pending = 0;
    a->n_results = 0;
    a->sum = 0;
    free(a->groups);
    free(a->group_of);
    free(a->picks);
    prior_fini(&a->prior);
}

void
anneal_free(struct anneal *a)
{
    if (a == NULL)
        return;
    forget(a);
    free(a->points);
    free(a->pending);
    free(a->stand_ins);
    free(a);
}

/* ---- groups ---- */

static bool
same_group(const struct prior_dim *a, const struct prior_dim *b)
{
    return a->parent == b->parent && (a->parent == PRIOR_NO_PARENT ||
                                      a->parent_choice == b->parent_choice);
}

/* Dimensions of a branch lie together but for what hangs on them, so that
 * looking from the last group backwards finds it soon. */
static size_t
group_for(struct anneal_group *groups, size_t *n, const struct prior *prior,
          size_t dim)
{
    for (size_t i = *n; i-- > 0;)
        if (same_group(&prior->dims[groups[i].first], &prior->dims[dim]))
            return i;
    groups[*n] = (struct anneal_group){.first = dim};
    return (*n)++;
}

int
anneal_space(struct anneal *a, struct prior *prior)
{
    size_t room = prior->n_dims + 1, n = 0;
    struct anneal_group *groups = calloc(room, sizeof *groups), *fitting;
    size_t *group_of = calloc(room, sizeof *group_of);
    const struct anneal_point **picks = calloc(room, sizeof *picks);

    if (groups == NULL || group_of == NULL || picks == NULL) {
        free(groups);
        free(group_of);
        free(picks);
        return -1;
    }
    for (size_t i = 0; i < prior->n_dims; i++)
        group_of[i] = group_for(groups, &n, prior, i);
    fitting = realloc(groups, (n + 1) * sizeof *groups);
    forget(a);
    a->groups = fitting != NULL ? fitting : groups;
    a->n_groups = n;
    a->group_of = group_of;
    a->picks = picks;
    a->prior = *prior;
    *prior = (struct prior){0};
    return 0;
}

/* ---- results ---- */

static bool
has_group(const struct anneal_group *g, const double *x)
{
    return !isnan(x[g->first]);
}

static bool
before(const struct anneal_point *a, const struct anneal_point *b)
{
    return a->loss < b->loss || (a->loss == b->loss && a->order < b->order);
}

static void
release(struct anneal *a, struct anneal_point *p)
{
    size_t i = a->n_points;

    if (--p->refs > 0)
        return;
    while (a->points[--i] != p)
        continue;
    a->n_points--;
    memmove(&a->points[i], &a->points[i + 1],
            (a->n_points - i) * sizeof(struct anneal_point *));
    point_free(p);
}

static void
list(struct anneal *a, struct anneal_group *g, struct anneal_point *p)
{
    size_t i = g->n_best;

    while (i > 0 && before(p, g->best[i - 1]))
        i--;
    if (i == ANNEAL_BEST)
        return;
    p->refs++;
    if (g->n_best == ANNEAL_BEST)
        release(a, g->best[--g->n_best]);
    memmove(&g->best[i + 1], &g->best[i],
            (g->n_best - i) * sizeof(struct anneal_point *));
    g->best[i] = p;
    g->n_best++;
}

static double *
copy_of(const struct anneal *a, const double *x)
{
    double *copy = malloc((a->prior.n_dims + 1) * sizeof *x);

    if (copy != NULL && a->prior.n_dims > 0)
        memcpy(copy, x, a->prior.n_dims * sizeof *x);
    return copy;
}

/* A point with `order`, into the lists of its groups; counts nothing.  For
 * loading, in ascending order.  -1 when out of memory. */
static int
enter(struct anneal *a, uint64_t id, uint64_t order, const double *x,
      double loss)
{
    struct anneal_point *p = calloc(1, sizeof *p);

    if (p == NULL || GROW(a->points, a->n_points, a->points_cap) != 0 ||
        (p->x = copy_of(a, x)) == NULL) {
        free(p);
        return -1;
    }
    p->id = id;
    p->order = order;
    p->loss = loss;
    p->refs = 1;
    a->points[a->n_points++] = p;
    for (size_t i = 0; i < a->n_groups; i++)
        if (has_group(&a->groups[i], x))
            list(a, &a->groups[i], p);
    release(a, p);
    return 0;
}

int
anneal_tell(struct anneal *a, uint64_t id, const double *x, double loss)
{
    if (isnan(loss))
        return 0;
    if (enter(a, id, a->n_results, x, loss) != 0)
        return -1;
    for (size_t i = 0; i < a->n_groups; i++)
        a->groups[i].count += has_group(&a->groups[i], x);
    if (a->n_results == 0 || loss < a->least)
        a->least = loss;
    if (a->n_results == 0 || loss > a->greatest)
        a->greatest = loss;
    a->sum += loss;
    a->n_results++;
    return 0;
}

/* ---- pending points ---- */

void
anneal_unpend(struct anneal *a, uint64_t id)
{
    for (size_t i = 0; i < a->n_pending; i++) {
        if (a->pending[i].id != id)
            continue;
        free(a->pending[i].x);
        a->n_pending--;
        memmove(&a->pending[i], &a->pending[i + 1],
                (a->n_pending - i) * sizeof *a->pending);
        return;
    }
}

int
anneal_pend(struct anneal *a, uint64_t id, const double *x)
{
    double *copy;

    if (a->lie == ANNEAL_LIE_NONE)
        return 0;
    anneal_unpend(a, id);
    if (a->n_pending == a->pending_cap) {
        size_t cap = grow_cap(a->pending_cap);

        if (grow_to(&a->pending, cap, sizeof *a->pending) != 0 ||
            grow_to(&a->stand_ins, cap, sizeof *a->stand_ins) != 0)
            return -1;
        a->pending_cap = cap;
    }
    copy = copy_of(a, x);
    if (copy == NULL)
        return -1;
    a->pending[a->n_pending++] = (struct anneal_pending){id, copy};
    return 0;
}

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
    rc = enter(a, id, order, x, loss);
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
