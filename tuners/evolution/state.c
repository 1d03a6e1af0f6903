/* SPDX-License-Identifier: MIT */
#include "evolution/state.h"

void
evolution_save(const struct evolution *e, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, e->serial);
    sink->u64(sink->ctx, e->n_members);
    for (size_t i = 0; i < e->n_members; i++) {
        const struct evolution_member *m = &e->members[i];

        sink->u64(sink->ctx, m->known);
        sink->u64(sink->ctx, m->id);
        sink->f64(sink->ctx, m->value);
        sink->f64s(sink->ctx, m->x, e->prior.n_dims);
    }
    sink->u64(sink->ctx, e->n_out);
    for (size_t i = 0; i < e->n_out; i++) {
        sink->u64(sink->ctx, e->out[i].id);
        sink->u64(sink->ctx, e->out[i].told);
    }
    sink->u64(sink->ctx, e->last_id);
    sink->u64(sink->ctx, e->again);
    sink->u64(sink->ctx, e->was_child);
}

static int
load_member(const struct evolution *e, struct evolution_member *m,
            const struct tp_source *s)
{
    uint64_t known;

    if (s->u64(s->ctx, &known) != TP_OK || known > 1 ||
        s->u64(s->ctx, &m->id) != TP_OK || s->f64(s->ctx, &m->value) != TP_OK ||
        isnan(m->value) || s->f64s(s->ctx, m->x, e->prior.n_dims) != TP_OK)
        return -1;
    m->known = known;
    return prior_holds(&e->prior, m->x) ? 0 : -1;
}

const char *
evolution_load(struct evolution *e, const struct tp_source *s)
{
    uint64_t n, told;

    if (s->u64(s->ctx, &e->serial) != TP_OK || s->u64(s->ctx, &n) != TP_OK ||
        n > e->size)
        return "a saved population is larger than population_size";
    for (e->n_members = 0; e->n_members < n; e->n_members++)
        if (load_member(e, &e->members[e->n_members], s) != 0)
            return "a saved member is none of this search space";
    if (s->u64(s->ctx, &n) != TP_OK || n > e->size)
        return "more saved trials are out than population_size";
    for (e->n_out = 0; e->n_out < n; e->n_out++) {
        struct evolution_out *out = &e->out[e->n_out];

        if (s->u64(s->ctx, &out->id) != TP_OK ||
            s->u64(s->ctx, &told) != TP_OK || told > 1)
            return "a saved trial is cut off";
        out->told = told;
    }
    if (s->u64(s->ctx, &e->last_id) != TP_OK ||
        s->u64(s->ctx, &e->again) != TP_OK || s->u64(s->ctx, &n) != TP_OK ||
        n > 1)
        return "what was asked for last is damaged";
    e->was_child = n == 1;
    return NULL;
}
