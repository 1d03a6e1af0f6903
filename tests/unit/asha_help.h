/* SPDX-License-Identifier: MIT */
/* asha_help.h - a tuner asha's algorithm, and what it said last. */
#ifndef TESTS_ASHA_HELP_H
#define TESTS_ASHA_HELP_H

#include "asha/asha.h"
#include "t.h"

#include <string.h>

struct world {
    struct asha *a;
    double x[4];
    struct asha_suggestion s;
    struct asha_judgement j;
};

static inline uint64_t
draw(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

static inline void
world_init(struct world *w, const struct asha_options *o, size_t n_dims)
{
    memset(w, 0, sizeof *w);
    w->a = asha_new(o);
    CHECK_EQ(asha_space(w->a, n_dims), 0);
}

static inline void
world_fini(struct world *w)
{
    asha_free(w->a);
}

/* The point of a new one is its id. */
static inline int
world_ask(struct world *w, uint64_t id)
{
    int rc = asha_ask(w->a, id, w->x, &w->s);

    if (rc == ASHA_NEW)
        w->x[0] = (double)id;
    if (rc == ASHA_PROMOTED)
        CHECK(w->x[0] == (double)w->s.first);
    return rc;
}

static inline int
world_report(struct world *w, uint64_t id, uint64_t used, double loss)
{
    double x[4] = {(double)asha_first(w->a, id)};

    return asha_report(w->a, id, x, used, loss, &w->j);
}

/* A trial from its beginning to its end. */
static inline void
world_run(struct world *w, uint64_t id, double loss)
{
    CHECK(world_ask(w, id) <= ASHA_PROMOTED);
    world_report(w, id, w->s.budget, loss);
    CHECK_EQ(asha_ended(w->a, id, true), 0);
}

/* Whether it is among those to be released; it is no more. */
static inline bool
world_is_released(struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->a->n_released; i++)
        if (w->a->released[i] == id) {
            w->a->released[i] = w->a->released[--w->a->n_released];
            return true;
        }
    return false;
}

#endif
