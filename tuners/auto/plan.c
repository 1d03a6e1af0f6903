/* SPDX-License-Identifier: MIT */
#include "auto/plan.h"

#include "cmaes/space.h"
#include "tunepipe/shell.h"

#include <math.h>

#define CMAES_MOST 100 /* parameters: beyond it has no model */
#define CMAES_FEW 15   /* parameters, up to which it does as well as gp */

static bool
is_continuous(const struct tp_space *s)
{
    for (size_t i = 0; i < s->n_dims; i++)
        if (TP_DIM(s, i)->flags & (TP_DIM_INDEX | TP_DIM_Q))
            return false;
    return true;
}

/* Whether gp may see a parameter by its logarithm, which the others cannot. */
static bool
is_wide(const struct tp_space *s)
{
    for (size_t i = 0; i < s->n_dims; i++)
        if (cmaes_span_of(TP_DIM(s, i)) >= CMAES_WIDE)
            return true;
    return false;
}

void
plan_begin(struct plan *p, const struct tp_space *s)
{
    *p = (struct plan){
        .kind = !is_continuous(s) || s->n_dims > CMAES_MOST ? PLAN_MIXED
                : s->n_dims > CMAES_FEW || is_wide(s)       ? PLAN_HARD
                                                            : PLAN_SMOOTH,
        .trials = p->trials,
        .alone = is_wide(s) ? PLAN_ALONE_WIDE : PLAN_ALONE,
        .before = p->before + p->asked,
        .lead = PLAN_CMAES,
    };
}

bool
plan_teaches(const struct plan *p)
{
    return p->asked < PLAN_MODELLED && p->results < PLAN_MODELLED;
}

bool
plan_models(const struct plan *p)
{
    return p->kind != PLAN_SMOOTH && plan_teaches(p) && p->trials < PLAN_MANY;
}

bool
plan_begins(const struct plan *p)
{
    return p->before + p->asked + p->results == 0 && p->trials < PLAN_MANY;
}

enum plan_part
plan_lead(const struct plan *p)
{
    if (p->asked < p->alone)
        return PLAN_CMAES;
    if (plan_models(p))
        return PLAN_GP;
    return p->kind == PLAN_MIXED && p->lead == PLAN_TPE ? PLAN_TPE : PLAN_CMAES;
}

unsigned
plan_round(const struct plan *p)
{
    if (!plan_models(p))
        return 3;
    return p->noise < PLAN_NOISY ? 5 : 2;
}

enum plan_part
plan_next(struct plan *p, uint64_t id)
{
    enum plan_part lead = plan_lead(p);
    unsigned round = plan_round(p);
    bool begins = plan_begins(p) && id == 0;
    uint64_t turn = p->asked++;

    if (begins)
        return PLAN_GP;
    if (turn < p->alone || (lead != PLAN_GP && p->kind != PLAN_MIXED))
        return PLAN_CMAES;
    turn -= p->alone;
    if (turn % round != 0)
        return lead;
    if (lead == PLAN_GP)
        return turn / round % 2 == 0 ? PLAN_CMAES : PLAN_TPE;
    return lead == PLAN_CMAES ? PLAN_TPE : PLAN_CMAES;
}

void
plan_result(struct plan *p, int part, double value)
{
    if (!isfinite(value) && p->kind == PLAN_SMOOTH)
        p->kind = PLAN_HARD;
    if (!isfinite(value) || (p->results++ > 0 && !(value < p->best)))
        return;
    p->best = value;
    if (part >= 0)
        p->lead = (uint64_t)part;
}

void
plan_noise(struct plan *p, double noise)
{
    if (!isnan(noise))
        p->noise = noise;
}

void
plan_save(const struct plan *p, const struct tp_sink *sink)
{
    tp_put_u64(sink, p->kind);
    tp_put_u64(sink, p->trials);
    tp_put_u64(sink, p->alone);
    tp_put_u64(sink, p->before);
    tp_put_u64(sink, p->asked);
    tp_put_u64(sink, p->results);
    tp_put_f64(sink, p->best);
    tp_put_u64(sink, p->lead);
    tp_put_f64(sink, p->noise);
}

int
plan_load(struct plan *p, const struct tp_source *source)
{
    struct plan read = {0};

    if (tp_get_u64(source, &read.kind) != TP_OK ||
        tp_get_u64(source, &read.trials) != TP_OK ||
        tp_get_u64(source, &read.alone) != TP_OK ||
        tp_get_u64(source, &read.before) != TP_OK ||
        tp_get_u64(source, &read.asked) != TP_OK ||
        tp_get_u64(source, &read.results) != TP_OK ||
        tp_get_f64(source, &read.best) != TP_OK ||
        tp_get_u64(source, &read.lead) != TP_OK ||
        tp_get_f64(source, &read.noise) != TP_OK || !isfinite(read.best) ||
        read.alone > PLAN_ALONE || read.kind >= PLAN_KINDS ||
        read.lead >= PLAN_N || !isfinite(read.noise))
        return -1;
    *p = read;
    return 0;
}
