/* SPDX-License-Identifier: MIT */
/* space.h - the host's search space as axis.h has it; for the shells around
 * algorithms. */
#ifndef TUNERS_CMAES_SPACE_H
#define TUNERS_CMAES_SPACE_H

#include "cmaes/axis.h"
#include "tunepipe/plugin.h"

#include <math.h>

static inline double
cmaes_span_of(const struct tp_dim *d)
{
    bool is_integer = d->kind == TP_RANDINT;
    double low = d->low, step = d->q, span;

    if (d->kind == TP_CHOICE || d->flags & (TP_DIM_LOG | TP_DIM_NORMAL))
        return 0;
    if (is_integer) { /* coordinates are indices */
        low = (double)d->offset / (d->q > 0 ? d->q : 1);
        step = 1;
    }
    if (low < 0 || (low <= 0 && step <= 0))
        return 0;
    span = (d->high - d->low) / (low > step ? low : step);
    return span < INFINITY ? span : 0;
}

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
        .span = cmaes_span_of(d),
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
