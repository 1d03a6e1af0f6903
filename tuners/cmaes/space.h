/* SPDX-License-Identifier: MIT */
/* space.h - the host's search space as axis.h has it; for the shells around
 * algorithms. */
#ifndef TUNERS_CMAES_SPACE_H
#define TUNERS_CMAES_SPACE_H

#include "cmaes/axis.h"
#include "tunepipe/plugin.h"

static inline struct cmaes_dim
cmaes_dim_of(const struct tp_dim *d)
{
    struct cmaes_dim out = {
        .kind = CMAES_REAL,
        .is_log = (d->flags & TP_DIM_LOG) != 0,
        .is_normal = (d->flags & TP_DIM_NORMAL) != 0,
        .n_choices = d->n_choices,
        .low = d->low,
        .high = d->high,
        .mu = d->mu,
        .sigma = d->sigma,
        .q = d->q,
        .parent = d->parent == TP_NO_PARENT ? CMAES_NO_PARENT : d->parent,
        .parent_choice = d->parent_choice,
    };

    if (d->kind == TP_CHOICE)
        out.kind = CMAES_CATEGORY;
    else if (d->kind == TP_RANDINT)
        out.kind = CMAES_ORDER;
    else if (d->flags & TP_DIM_Q)
        out.kind = CMAES_STEPS;
    return out;
}

#endif
