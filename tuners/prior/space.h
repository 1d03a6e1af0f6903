/* SPDX-License-Identifier: MIT */
/* space.h - the host's search space and random numbers as prior.h has them;
 * for the shells around algorithms. */
#ifndef PRIOR_SPACE_H
#define PRIOR_SPACE_H

#include "prior/prior.h"
#include "tunepipe/shell.h"

/* To be given to prior_fini(); -1 when out of memory. */
static inline int
prior_of_space(struct prior *p, const struct tp_space *s)
{
    if (prior_init(p, s->n_dims) != 0)
        return -1;
    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);

        p->dims[i] = (struct prior_dim){
            .n_choices = d->flags & TP_DIM_INDEX ? d->n_choices : 0,
            .is_normal = (d->flags & TP_DIM_NORMAL) != 0,
            .is_log = (d->flags & TP_DIM_LOG) != 0,
            .is_q = (d->flags & TP_DIM_Q) != 0,
            .low = d->low,
            .high = d->high,
            .mu = d->mu,
            .sigma = d->sigma,
            .parent = d->parent == TP_NO_PARENT ? PRIOR_NO_PARENT : d->parent,
            .parent_choice = d->parent_choice,
        };
    }
    return 0;
}

static inline double
prior_host_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const struct tp_host *host = ctx;

    return tp_uniform(host, a, b, draw);
}

static inline struct prior_random
prior_host_random(const struct tp_host *host)
{
    return (struct prior_random){prior_host_uniform, (void *)(uintptr_t)host};
}

#endif
