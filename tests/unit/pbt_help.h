/* SPDX-License-Identifier: MIT */
/* pbt_help.h - a population with a search space, random numbers and a record of
 * what it releases, for the tests of tuners/pbt. */
#ifndef TESTS_PBT_HELP_H
#define TESTS_PBT_HELP_H

#include "pbt/pbt.h"
#include "unit/prior_help.h"

#define LINE_SPACE "{'x': {'_type': 'uniform', '_value': [0, 1]}}"
#define RELEASED_MAX 4096

struct world {
    uint64_t seed;
    struct space *space;
    struct pbt *p;
    double x[X_MAX];
    struct pbt_answer a;
    uint64_t released[RELEASED_MAX];
    size_t n_released;
};

static inline double
help_value(void *ctx, size_t dim, double x)
{
    return space_value(ctx, dim, x);
}

static inline struct explore_space
help_explore_space(const struct space *space)
{
    const struct tp_space *s = space_dims(space);
    struct explore_space e = {.prior = help_prior(space),
                              .q = calloc(s->n_dims + 1, sizeof *e.q),
                              .value = help_value,
                              .value_ctx = (void *)(uintptr_t)space};

    for (size_t i = 0; i < s->n_dims; i++)
        e.q[i] = TP_DIM(s, i)->q;
    return e;
}

static inline void
help_release(void *ctx, uint64_t id)
{
    struct world *w = ctx;

    CHECK(w->n_released < RELEASED_MAX);
    for (size_t i = 0; i < w->n_released; i++)
        CHECK(w->released[i] != id); /* once */
    w->released[w->n_released++] = id;
}

static inline bool
help_released(const struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->n_released; i++)
        if (w->released[i] == id)
            return true;
    return false;
}

static inline struct world *
world_new(const char *space, const struct pbt_settings *set, uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    struct explore_space mine;

    w->seed = seed;
    w->space = help_space(space);
    w->p = pbt_new(set, help_random(&w->seed));
    w->p->release = help_release;
    w->p->release_ctx = w;
    mine = help_explore_space(w->space);
    CHECK_EQ(pbt_space(w->p, &mine), 0);
    return w;
}

static inline void
world_free(struct world *w)
{
    pbt_free(w->p);
    space_free(w->space);
    free(w);
}

static inline enum pbt_ask
ask(struct world *w, uint64_t id)
{
    enum pbt_ask rc;

    w->a.x = w->x;
    rc = pbt_ask(w->p, id, &w->a);
    if (rc == PBT_POINT) {
        help_check_point(w->space, w->x);
        CHECK(w->a.from == PBT_NO_ID || !help_released(w, w->a.from));
    }
    return rc;
}

/* What the trial runs: the member's point, or, once forgotten, any. */
static inline const double *
help_point(const struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->p->set.size; i++)
        if (w->p->members[i].id == id)
            return w->p->members[i].x;
    return w->x;
}

static inline void
tell(struct world *w, uint64_t id, double value)
{
    double x[X_MAX];

    memcpy(x, help_point(w, id), w->p->space.prior.n_dims * sizeof *x);
    pbt_tell(w->p, id, x, value);
}

static inline void
end(struct world *w, uint64_t id, enum pbt_end how)
{
    double x[X_MAX];

    memcpy(x, help_point(w, id), w->p->space.prior.n_dims * sizeof *x);
    pbt_ended(w->p, id, x, how);
}

static inline enum pbt_verdict
report(struct world *w, uint64_t id, double value, uint64_t used)
{
    double x[X_MAX];

    memcpy(x, help_point(w, id), w->p->space.prior.n_dims * sizeof *x);
    return pbt_metric(w->p, id, x, value, used).verdict;
}

#endif
