/* SPDX-License-Identifier: MIT */
#include "evolution/state.h"

#include "tunepipe/shell.h"

void
evolution_save(const struct evolution *e, const struct tp_sink *sink)
{
    tp_put_u64(sink, e->serial);
    tp_put_u64(sink, e->n_members);
    for (size_t i = 0; i < e->n_members; i++) {
        const struct evolution_member *m = &e->members[i];

        tp_put_u64(sink, m->known);
        tp_put_u64(sink, m->id);
        tp_put_f64(sink, m->value);
        tp_put_f64s(sink, m->x, e->prior.n_dims);
    }
    tp_put_u64(sink, e->n_out);
    for (size_t i = 0; i < e->n_out; i++) {
        tp_put_u64(sink, e->out[i].id);
        tp_put_u64(sink, e->out[i].told);
    }
    tp_put_u64(sink, e->last_id);
    tp_put_u64(sink, e->again);
    tp_put_u64(sink, e->was_child);
}

static int
load_member(const struct evolution *e, struct evolution_member *m,
            const struct tp_source *s)
{
    uint64_t known;

    if (tp_get_u64(s, &known) != TP_OK || known > 1 ||
        tp_get_u64(s, &m->id) != TP_OK || tp_get_f64(s, &m->value) != TP_OK ||
        isnan(m->value) || tp_get_f64s(s, m->x, e->prior.n_dims) != TP_OK)
        return -1;
    m->known = known;
    return prior_holds(&e->prior, m->x) ? 0 : -1;
}

const char *
evolution_load(struct evolution *e, const struct tp_source *s)
{
    uint64_t n, told;

    if (tp_get_u64(s, &e->serial) != TP_OK || tp_get_u64(s, &n) != TP_OK ||
        n > e->size)
        return "a saved population is larger than population_size";
    for (e->n_members = 0; e->n_members < n; e->n_members++)
        if (load_member(e, &e->members[e->n_members], s) != 0)
            return "a saved member is none of this search space";
    if (tp_get_u64(s, &n) != TP_OK || n > e->size)
        return "more saved trials are out than population_size";
    for (e->n_out = 0; e->n_out < n; e->n_out++) {
        struct evolution_out *out = &e->out[e->n_out];

        if (tp_get_u64(s, &out->id) != TP_OK || tp_get_u64(s, &told) != TP_OK ||
            told > 1)
            return "a saved trial is cut off";
        out->told = told;
    }
    if (tp_get_u64(s, &e->last_id) != TP_OK ||
        tp_get_u64(s, &e->again) != TP_OK || tp_get_u64(s, &n) != TP_OK ||
        n > 1)
        return "what was asked for last is damaged";
    e->was_child = n == 1;
    return NULL;
}
