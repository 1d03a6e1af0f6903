/* SPDX-License-Identifier: MIT */
#include "auto/plan.h"

#include "tunepipe/shell.h"

#include <math.h>

#define ROUND 3
#define CMAES_MOST 100 /* parameters: beyond it has no model */

static bool
is_continuous(const struct tp_space *s)
{
    for (size_t i = 0; i < s->n_dims; i++)
        if (TP_DIM(s, i)->flags & (TP_DIM_INDEX | TP_DIM_Q))
            return false;
    return true;
}

void
plan_begin(struct plan *p, const struct tp_space *s)
{
    bool is_shared = s->n_dims > CMAES_MOST || !is_continuous(s);

    *p = (struct plan){
        .round = is_shared ? ROUND : 0,
        .lead = PLAN_CMAES,
    };
}

enum plan_part
plan_next(struct plan *p)
{
    uint64_t turn = p->asked++;

    if (p->round == 0 || turn < PLAN_ALONE)
        return PLAN_CMAES;
    if ((turn - PLAN_ALONE) % p->round != 0)
        return (enum plan_part)p->lead;
    return p->lead == PLAN_CMAES ? PLAN_TPE : PLAN_CMAES;
}

bool
plan_result(struct plan *p, int part, double value)
{
    uint64_t before = p->lead;

    if (!isfinite(value) || (p->results++ > 0 && !(value < p->best)))
        return false;
    p->best = value;
    if (part >= 0)
        p->lead = (uint64_t)part;
    return p->lead != before;
}

void
plan_save(const struct plan *p, const struct tp_sink *sink)
{
    tp_put_u64(sink, p->asked);
    tp_put_u64(sink, p->results);
    tp_put_f64(sink, p->best);
    tp_put_u64(sink, p->lead);
}

int
plan_load(struct plan *p, const struct tp_source *source)
{
    struct plan read = {.round = p->round};

    if (tp_get_u64(source, &read.asked) != TP_OK ||
        tp_get_u64(source, &read.results) != TP_OK ||
        tp_get_f64(source, &read.best) != TP_OK ||
        tp_get_u64(source, &read.lead) != TP_OK || !isfinite(read.best) ||
        read.lead >= PLAN_N)
        return -1;
    *p = read;
    return 0;
}
