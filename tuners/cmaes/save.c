/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * What save() writes load() reads by the same walk over the same members, so
 * that the two cannot part.  What follows from arguments and space is not
 * written, nor what the model is fitted to: it follows from the results. */
#include "cmaes/save.h"

#include "cmaes/cmaes.h"

#include <stdlib.h>

#define VERSION 1

/* One of the two is NULL.  why: what was wrong first. */
struct walk {
    const struct tp_sink *sink;
    const struct tp_source *source;
    const char *why;
};

static void
expect(struct walk *w, bool is_right, const char *why)
{
    if (!is_right && w->why == NULL)
        w->why = why;
}

static void
walk_u64(struct walk *w, uint64_t *value)
{
    if (w->sink != NULL)
        w->sink->u64(w->sink->ctx, *value);
    else
        expect(w, w->source->u64(w->source->ctx, value) == TP_OK,
               "the state ends too early");
}

static void
walk_f64s(struct walk *w, double *values, size_t n)
{
    if (n == 0)
        return;
    if (w->sink != NULL)
        w->sink->f64s(w->sink->ctx, values, n);
    else
        expect(w, w->source->f64s(w->source->ctx, values, n) == TP_OK,
               "the state ends too early");
}

static void
walk_size(struct walk *w, size_t *value, size_t max)
{
    uint64_t wide = *value;

    walk_u64(w, &wide);
    expect(w, wide <= max, "a number is too large");
    if (w->source != NULL)
        *value = w->why == NULL ? (size_t)wide : 0;
}

static void
walk_bool(struct walk *w, bool *value)
{
    size_t wide = *value;

    walk_size(w, &wide, 1);
    *value = wide != 0;
}

/* A count of things that take `bytes` each at least. */
static void
walk_count(struct walk *w, size_t *n, size_t bytes)
{
    size_t max = (size_t)-1;

    if (w->source != NULL)
        max = w->source->left(w->source->ctx) / bytes;
    walk_size(w, n, max);
}

static void
walk_picks(struct walk *w, const struct cmaes *c, uint32_t *pick)
{
    const struct cmaes_categories *t = &c->categories;

    for (size_t i = 0; i < c->n_pick; i++) {
        size_t value = pick[i], n = t->at[i + 1] - t->at[i];

        walk_size(w, &value, CMAES_UNPICKED);
        expect(w, value < n || value == CMAES_UNPICKED,
               "an element that there is not");
        pick[i] = (uint32_t)value;
    }
}

static void
walk_point(struct walk *w, const struct cmaes *c, struct cmaes_point *p)
{
    size_t class = p->class;

    walk_u64(w, &p->id);
    walk_u64(w, &p->born);
    walk_u64(w, &p->era);
    walk_u64(w, &p->order);
    walk_size(w, &class, CMAES_FAILED);
    p->class = (enum cmaes_class) class;
    walk_f64s(w, &p->value, 1);
    walk_f64s(w, p->u, c->n_line);
    walk_picks(w, c, p->pick);
}

static void
walk_points(struct walk *w, struct cmaes *c, struct cmaes_points *list)
{
    size_t n = list->n;

    walk_count(w, &n, 6 * sizeof(uint64_t));
    for (size_t i = 0; i < n && w->why == NULL; i++) {
        struct cmaes_point p;

        if (w->sink != NULL) {
            walk_point(w, c, &list->at[i]);
            continue;
        }
        if (cmaes_point_init(c, &p) != 0) {
            w->why = "out of memory";
            return;
        }
        walk_point(w, c, &p);
        if (cmaes_points_insert(list, i, &p) != 0)
            w->why = "out of memory";
    }
}

static void
walk_known(struct walk *w, struct cmaes_known *k)
{
    size_t n = k->n;

    walk_count(w, &n, 4 * sizeof(uint64_t));
    for (size_t i = 0; i < n && w->why == NULL; i++) {
        struct cmaes_fact fact = {.class = 0};
        size_t class;

        if (w->sink != NULL)
            fact = k->facts[i];
        class = (size_t)(fact.class + 1);
        walk_u64(w, &fact.key[0]);
        walk_u64(w, &fact.key[1]);
        walk_f64s(w, &fact.value, 1);
        walk_size(w, &class, CMAES_FAILED + 1);
        fact.class = (int64_t) class - 1;
        if (w->source != NULL && w->why == NULL &&
            cmaes_known_put(k, &fact) != 0)
            w->why = "out of memory";
    }
    expect(w, k->n == n, "the same point is there twice");
}

static void
walk_restart(struct walk *w, struct cmaes *c)
{
    struct cmaes_restart *r = &c->restart;
    size_t population = c->population, n_best = r->n_best;

    walk_size(w, &population, CMAES_POPULATION_MAX);
    walk_size(w, &r->large, CMAES_POPULATION_MAX);
    expect(w, population >= 2 && r->large >= 2, "a population is too small");
    if (w->why != NULL)
        return;
    if (w->source != NULL && cmaes_restart_population(c, population) != 0) {
        w->why = "out of memory";
        return;
    }
    walk_u64(w, &r->era);
    walk_u64(w, &r->used[0]);
    walk_u64(w, &r->used[1]);
    walk_bool(w, &r->is_small);
    walk_size(w, &n_best, (size_t)-1);
    r->n_best = n_best;
    if (w->why == NULL)
        walk_f64s(w, r->best, n_best < r->room ? n_best : r->room);
    walk_f64s(w, &r->scale, 1);
}

static void
walk_distribution(struct walk *w, struct cmaes *c)
{
    struct cmaes_gauss *g = &c->gauss;
    struct cmaes_categories *t = &c->categories;
    size_t cells = g->is_full ? g->n * g->n : g->n;

    walk_f64s(w, &g->sigma, 1);
    walk_u64(w, &g->steps);
    walk_f64s(w, g->mean, g->n);
    walk_f64s(w, g->path_s, g->n);
    walk_f64s(w, g->path_c, g->n);
    walk_f64s(w, g->cov, cells);
    walk_f64s(w, g->root, cells);
    walk_f64s(w, c->stretch, c->n_line);
    walk_f64s(w, t->theta, t->at[t->n]);
    walk_f64s(w, t->path, t->at[t->n]);
    walk_f64s(w, &t->delta, 1);
    walk_f64s(w, &t->gamma, 1);
}

static void
walk_past(struct walk *w, struct cmaes *c)
{
    struct cmaes_past *past = &c->past;
    size_t n_theta = past->model.n_feature + 2;

    if (!past->is_used)
        return;
    walk_points(w, c, &past->points);
    walk_size(w, &past->n_best, CMAES_MODEL_BEST);
    for (size_t i = 0; i < past->n_best; i++) {
        walk_size(w, &past->best[i], (size_t)-1);
        expect(w, past->best[i] < past->points.n, "a result is missing");
    }
    walk_bool(w, &past->is_stale);
    walk_u64(w, &past->stall);
    walk_bool(w, &past->is_given_up);
    walk_f64s(w, past->model.log_theta, n_theta);
    walk_f64s(w, past->model.step, n_theta);
    walk_f64s(w, past->model.slope, n_theta);
}

static void
walk_all(struct walk *w, struct cmaes *c)
{
    uint64_t version = VERSION;

    walk_u64(w, &version);
    expect(w, version == VERSION, "another version saved it");
    walk_u64(w, &c->draws);
    walk_u64(w, &c->generation);
    walk_f64s(w, &c->best, 1);
    walk_bool(w, &c->has_begun);
    walk_restart(w, c);
    walk_distribution(w, c);
    if (w->why == NULL)
        walk_points(w, c, &c->pending);
    if (w->why == NULL)
        walk_points(w, c, &c->arrived);
    if (w->why == NULL)
        walk_points(w, c, &c->warm);
    if (w->why == NULL)
        walk_known(w, &c->known);
    if (w->why == NULL)
        walk_past(w, c);
}

void
cmaes_save(const struct cmaes *c, const struct tp_sink *sink)
{
    struct walk w = {.sink = sink};

    walk_all(&w, (struct cmaes *)(uintptr_t)c); /* which it only reads */
}

const char *
cmaes_load(struct cmaes *c, const struct tp_source *source)
{
    struct walk w = {.source = source};

    walk_all(&w, c);
    for (size_t i = 1; i < c->pending.n; i++)
        expect(&w, c->pending.at[i - 1].id < c->pending.at[i].id,
               "the points that are out are not in order");
    expect(&w, c->arrived.n < c->population, "more results than are taken");
    return w.why;
}
