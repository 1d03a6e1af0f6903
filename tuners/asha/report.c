/* SPDX-License-Identifier: MIT */
/* Results: which rung they enter, and what follows for their trial. */
#include "asha/asha.h"

#include <math.h>

static int
record(struct asha *a, struct asha_config *c, uint64_t id, const double *x,
       double loss, struct asha_judgement *out)
{
    uint32_t place = (uint32_t)(c - a->pool);
    struct rung *r = &a->brackets[c->bracket].rungs[c->rung];
    uint32_t entry = asha_rung_add(r, loss, id, place);

    if (entry == RUNG_NONE)
        return -1;
    c->entry = entry;
    asha_places_put(a, place, x);
    *out = (struct asha_judgement){
        .bracket = c->bracket,
        .rung = c->rung,
        .is_recorded = true,
        .entry = entry,
        .cut = asha_rung_cut(r),
    };
    return 0;
}

static int
report_promoting(struct asha *a, struct asha_config *c, uint64_t id,
                 const double *x, uint64_t used, double loss,
                 struct asha_judgement *out)
{
    if (used < asha_level(a, c->bracket, c->rung))
        return ASHA_GO;
    if (c->entry == RUNG_NONE && record(a, c, id, x, loss, out) != 0)
        return -1;
    return asha_is_last(a, c) ? ASHA_FINISH : ASHA_PAUSE;
}

/* A trial that does not report every step has its say at every level that it
 * has passed since it last did. */
static int
report_stopping(struct asha *a, struct asha_config *c, uint64_t id,
                const double *x, uint64_t used, double loss,
                struct asha_judgement *out)
{
    const struct asha_bracket *b = &a->brackets[c->bracket];

    while (!c->is_stopped && c->rung < b->n_rungs &&
           used >= asha_level(a, c->bracket, c->rung)) {
        const struct rung *r = &b->rungs[c->rung];

        if (record(a, c, id, x, loss, out) != 0)
            return -1;
        c->is_stopped = !asha_is_last(a, c) && !r->entries[c->entry].is_top;
        c->entry = RUNG_NONE;
        c->rung++;
    }
    if (c->is_stopped)
        return ASHA_STOP;
    return c->rung == b->n_rungs ? ASHA_FINISH : ASHA_GO;
}

int
asha_report(struct asha *a, uint64_t id, const double *x, uint64_t used,
            double loss, struct asha_judgement *out)
{
    const struct asha_out *o = asha_places_find(a, id);
    struct asha_config *c;

    *out = (struct asha_judgement){.cut = NAN};
    if (o == NULL)
        return ASHA_GO;
    c = &a->pool[o->config];
    out->bracket = c->bracket;
    out->rung = c->rung;
    return a->options.promotes ? report_promoting(a, c, id, x, used, loss, out)
                               : report_stopping(a, c, id, x, used, loss, out);
}

/* A trial that ends of its own accord has used what it was given. */
int
asha_final(struct asha *a, uint64_t id, const double *x, double loss,
           struct asha_judgement *out)
{
    const struct asha_out *o = asha_places_find(a, id);

    if (a->options.promotes || o == NULL)
        return asha_report(a, id, x, a->options.max_budget, loss, out);
    *out = (struct asha_judgement){.cut = NAN};
    return a->pool[o->config].is_stopped ? ASHA_STOP : ASHA_FINISH;
}
