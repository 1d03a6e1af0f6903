/* SPDX-License-Identifier: MIT */
/* gp_help.h - the search of gp.h over a space written as JSON. */
#ifndef TESTS_GP_HELP_H
#define TESTS_GP_HELP_H

#include "gp/gp.h"

#include "cmaes/space.h"
#include "numerics/random.h"
#include "prior/space.h"
#include "space/space.h"
#include "t.h"
#include "unit/space_help.h"

/* Whence it has random numbers and keys; it has to stay where it is. */
struct gp_host {
    struct space *space; /* owned by whom asked */
    uint64_t seed;
};

static inline double
gp_host_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct gp_host *h = ctx;
    struct random_stream s = random_stream(h->seed, RANDOM_TUNER, a, b);

    return random_uniform(&s, draw);
}

static inline int
gp_host_key(void *ctx, const double *x, uint64_t *key)
{
    const struct gp_host *h = ctx;

    space_key(h->space, x, key);
    return 0;
}

/* With seed 1. */
static inline struct gp *
gp_host_open(struct gp_host *h, const char *space,
             const struct gp_options *options)
{
    struct gp_services services = {{gp_host_uniform, h}, gp_host_key, h};
    const struct tp_space *dims;
    struct cmaes_dim *axes;
    struct prior prior;
    struct gp *gp;

    h->seed = 1;
    h->space = help_space(space);
    dims = space_dims(h->space);
    axes = calloc(dims->n_dims + 1, sizeof *axes);
    for (size_t i = 0; i < dims->n_dims; i++)
        axes[i] = cmaes_dim_of(TP_DIM(dims, i));
    CHECK_EQ(prior_of_space(&prior, dims), 0);
    gp = gp_new(options, &services, &prior, axes);
    CHECK(gp != NULL);
    return gp;
}

#endif
