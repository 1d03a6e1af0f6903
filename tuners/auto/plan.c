/* SPDX-License-Identifier: MIT */
#include "auto/plan.h"

#include <math.h>

/* Where cmaes has a model, and the space is too wide for both to get on with a
 * share each. */
#define WIDE_LEAST 17
#define WIDE_MOST 100
#define ROUND 3
#define ROUND_WIDE 6

void
plan_begin(struct plan *p, size_t n_dims)
{
    bool is_wide = n_dims >= WIDE_LEAST && n_dims <= WIDE_MOST;

    *p = (struct plan){
        .round = is_wide ? ROUND_WIDE : ROUND,
        .lead = PLAN_CMAES,
    };
}

enum plan_part
plan_next(struct plan *p)
{
    uint64_t turn = p->asked++;

    if (turn < PLAN_ALONE)
        return PLAN_CMAES;
    if ((turn - PLAN_ALONE) % p->round != 0)
        return (enum plan_part)p->lead;
    return p->lead == PLAN_CMAES ? PLAN_TPE : PLAN_CMAES;
}

bool
plan_result(struct plan *p, int part, double value)
{
    uint64_t before = p->lead;

    if (isnan(value) || (p->results++ > 0 && !(value < p->best)))
        return false;
    p->best = value;
    if (part >= 0)
        p->lead = (uint64_t)part;
    return p->lead != before;
}

void
plan_save(const struct plan *p, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, p->asked);
    sink->u64(sink->ctx, p->results);
    sink->f64(sink->ctx, p->best);
    sink->u64(sink->ctx, p->lead);
}

int
plan_load(struct plan *p, const struct tp_source *source)
{
    struct plan read = {.round = p->round};

    if (source->u64(source->ctx, &read.asked) != TP_OK ||
        source->u64(source->ctx, &read.results) != TP_OK ||
        source->f64(source->ctx, &read.best) != TP_OK ||
        source->u64(source->ctx, &read.lead) != TP_OK || isnan(read.best) ||
        read.lead >= PLAN_N)
        return -1;
    *p = read;
    return 0;
}
