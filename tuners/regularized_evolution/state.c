/* SPDX-License-Identifier: MIT */
#include "regularized_evolution/state.h"

void
aging_save(const struct aging *a, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, a->draws_left);
    sink->u64(sink->ctx, a->n_members);
    for (size_t i = 0; i < a->n_members; i++) {
        const struct aging_member *m = aging_at(a, i);

        sink->u64(sink->ctx, m->id);
        sink->f64(sink->ctx, m->value);
        sink->f64s(sink->ctx, m->x, a->prior.n_dims);
    }
    sink->u64(sink->ctx, a->n_out);
    for (size_t i = 0; i < a->n_out; i++)
        sink->u64(sink->ctx, a->out[i]);
    sink->u64(sink->ctx, a->last_id);
    sink->u64(sink->ctx, a->again);
    sink->u64(sink->ctx, a->was_draw);
}

static const char *
load_member(struct aging *a, const struct tp_source *s)
{
    size_t n_dims = a->prior.n_dims;
    struct aging_member *m = aging_at(a, a->n_members);

    if (s->u64(s->ctx, &m->id) != TP_OK || s->f64(s->ctx, &m->value) != TP_OK ||
        isnan(m->value) || s->left(s->ctx) / sizeof(double) < n_dims)
        return "a saved member is cut off";
    m->x = malloc((n_dims + 1) * sizeof *m->x);
    if (m->x == NULL)
        return "out of memory";
    a->n_members++;
    if (s->f64s(s->ctx, m->x, n_dims) != TP_OK || !prior_holds(&a->prior, m->x))
        return "a saved member is none of this search space";
    return NULL;
}

static const char *
load_out(struct aging *a, const struct tp_source *s)
{
    uint64_t n, before = 0;

    if (s->u64(s->ctx, &n) != TP_OK || n > s->left(s->ctx) / sizeof n)
        return "the saved trials are cut off";
    a->out = calloc((size_t)n + 1, sizeof *a->out);
    if (a->out == NULL)
        return "out of memory";
    a->out_cap = (size_t)n + 1;
    for (a->n_out = 0; a->n_out < n; a->n_out++) {
        uint64_t *id = &a->out[a->n_out];

        if (s->u64(s->ctx, id) != TP_OK || (a->n_out > 0 && *id <= before))
            return "the saved trials are not in order";
        before = *id;
    }
    return NULL;
}

static const char *
load_last(struct aging *a, const struct tp_source *s)
{
    uint64_t was_draw;

    if (s->u64(s->ctx, &a->last_id) != TP_OK ||
        s->u64(s->ctx, &a->again) != TP_OK ||
        s->u64(s->ctx, &was_draw) != TP_OK || was_draw > 1)
        return "what was asked for last is damaged";
    a->was_draw = was_draw == 1;
    return NULL;
}

const char *
aging_load(struct aging *a, const struct tp_source *s)
{
    const char *wrong;
    uint64_t n;

    if (s->u64(s->ctx, &a->draws_left) != TP_OK || a->draws_left > a->size ||
        s->u64(s->ctx, &n) != TP_OK || n > a->size)
        return "a saved population is larger than population_size";
    while (a->n_members < n) {
        wrong = load_member(a, s);
        if (wrong != NULL)
            return wrong;
    }
    free(a->out);
    a->out = NULL;
    a->out_cap = 0;
    wrong = load_out(a, s);
    return wrong != NULL ? wrong : load_last(a, s);
}
