/* SPDX-License-Identifier: MIT */
#include "regularized_evolution/state.h"

#include "tunepipe/shell.h"

void
aging_save(const struct aging *a, const struct tp_sink *sink)
{
    tp_put_u64(sink, a->draws_left);
    tp_put_u64(sink, a->n_members);
    for (size_t i = 0; i < a->n_members; i++) {
        const struct aging_member *m = aging_at(a, i);

        tp_put_u64(sink, m->id);
        tp_put_f64(sink, m->value);
        tp_put_f64s(sink, m->x, a->prior.n_dims);
    }
    tp_put_u64(sink, a->n_out);
    for (size_t i = 0; i < a->n_out; i++)
        tp_put_u64(sink, a->out[i]);
    tp_put_u64(sink, a->last_id);
    tp_put_u64(sink, a->again);
    tp_put_u64(sink, a->was_draw);
}

static const char *
load_member(struct aging *a, const struct tp_source *s)
{
    size_t n_dims = a->prior.n_dims;
    struct aging_member *m = aging_at(a, a->n_members);

    if (tp_get_u64(s, &m->id) != TP_OK || tp_get_f64(s, &m->value) != TP_OK ||
        isnan(m->value) || tp_left(s) / sizeof(double) < n_dims)
        return "a saved member is cut off";
    m->x = malloc((n_dims + 1) * sizeof *m->x);
    if (m->x == NULL)
        return "out of memory";
    a->n_members++;
    if (tp_get_f64s(s, m->x, n_dims) != TP_OK || !prior_holds(&a->prior, m->x))
        return "a saved member is none of this search space";
    return NULL;
}

static const char *
load_out(struct aging *a, const struct tp_source *s)
{
    uint64_t n, before = 0;

    if (tp_get_u64(s, &n) != TP_OK || n > tp_left(s) / sizeof n)
        return "the saved trials are cut off";
    a->out = calloc((size_t)n + 1, sizeof *a->out);
    if (a->out == NULL)
        return "out of memory";
    a->out_cap = (size_t)n + 1;
    for (a->n_out = 0; a->n_out < n; a->n_out++) {
        uint64_t *id = &a->out[a->n_out];

        if (tp_get_u64(s, id) != TP_OK || (a->n_out > 0 && *id <= before))
            return "the saved trials are not in order";
        before = *id;
    }
    return NULL;
}

static const char *
load_last(struct aging *a, const struct tp_source *s)
{
    uint64_t was_draw;

    if (tp_get_u64(s, &a->last_id) != TP_OK ||
        tp_get_u64(s, &a->again) != TP_OK ||
        tp_get_u64(s, &was_draw) != TP_OK || was_draw > 1)
        return "what was asked for last is damaged";
    a->was_draw = was_draw == 1;
    return NULL;
}

const char *
aging_load(struct aging *a, const struct tp_source *s)
{
    const char *wrong;
    uint64_t n;

    if (tp_get_u64(s, &a->draws_left) != TP_OK || a->draws_left > a->size ||
        tp_get_u64(s, &n) != TP_OK || n > a->size)
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
