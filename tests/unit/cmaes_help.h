/* SPDX-License-Identifier: MIT */
/* cmaes_help.h - a search over a space written as JSON, and what it finds. */
#ifndef TESTS_CMAES_HELP_H
#define TESTS_CMAES_HELP_H

#include "cmaes/cmaes.h"
#include "cmaes/space.h"

#include "numerics/random.h"
#include "space/space.h"
#include "t.h"
#include "unit/space_help.h"

#include <math.h>

struct hunt {
    struct space *space;
    struct cmaes *search;
    uint64_t seed, next_id;
    size_t n;
    double best, x[X_MAX]; /* the best point's */
};

static inline uint64_t
hunt_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct hunt *h = ctx;
    struct random_stream s = random_stream(h->seed, RANDOM_TUNER, a, b);

    return random_bits(&s, draw);
}

static inline int
hunt_key(void *ctx, const double *x, uint64_t *key)
{
    const struct hunt *h = ctx;

    space_key(h->space, x, key);
    return 0;
}

static inline struct cmaes_options
hunt_options(bool surrogate)
{
    return (struct cmaes_options){
        .sigma = 0.3, .restarts = CMAES_IPOP, .surrogate = surrogate};
}

static inline void
hunt_open(struct hunt *h, const char *space, struct cmaes_options options)
{
    struct cmaes_services services = {h, hunt_bits, hunt_key};
    struct cmaes_dim dims[X_MAX];
    const struct tp_space *s;

    memset(h, 0, sizeof *h);
    h->seed = 1;
    h->best = INFINITY;
    h->space = help_space(space);
    s = space_dims(h->space);
    h->n = s->n_dims;
    for (size_t i = 0; i < h->n; i++)
        dims[i] = cmaes_dim_of(TP_DIM(s, i));
    h->search = cmaes_new(dims, h->n, &options, &services);
    CHECK(h->search != NULL);
}

static inline void
hunt_close(struct hunt *h)
{
    cmaes_free(h->search);
    space_free(h->space);
}

/* A legal point, in x; its id. */
static inline uint64_t
hunt_ask(struct hunt *h, double *x)
{
    CHECK_EQ(cmaes_ask(h->search, h->next_id, x), 0);
    help_decode(h->space, x);
    return h->next_id++;
}

static inline void
hunt_tell(struct hunt *h, uint64_t id, const double *x, double value)
{
    CHECK_EQ(cmaes_tell(h->search, id, x, CMAES_FINAL, value), 0);
    if (value < h->best) {
        h->best = value;
        memcpy(h->x, x, h->n * sizeof *x);
    }
}

typedef double hunt_function(const struct hunt *h, const double *x);

static inline double
hunt_run(struct hunt *h, hunt_function *f, int trials)
{
    double x[X_MAX];

    for (int i = 0; i < trials; i++) {
        uint64_t id = hunt_ask(h, x);

        hunt_tell(h, id, x, f(h, x));
    }
    return h->best;
}

#define HUNT_U "{'_type': 'uniform', '_value': [-5, 5]}"
#define HUNT_FIVE                                                      \
    "{'a': " HUNT_U ", 'b': " HUNT_U ", 'c': " HUNT_U ", 'd': " HUNT_U \
    ", 'e': " HUNT_U "}"

#endif
