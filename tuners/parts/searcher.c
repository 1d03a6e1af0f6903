/* SPDX-License-Identifier: MIT */
#include "parts/searcher.h"

#include "tunepipe/shell.h"

#include <math.h>

int
searcher_init(struct searcher *s, const struct tp_host *host,
              const struct tp_tuner *model, const char *mode)
{
    s->host = host;
    s->last_id = TP_NO_ID;
    s->table = model;
    if (model == NULL)
        return TP_OK;
    s->model = s->table->create(host);
    if (s->model == NULL)
        return TP_ERR;
    if (defaults_fill(&s->defaults, s->table->args, s->table->n_args, mode) !=
        0)
        return tp_error(host, "%s: its arguments have no defaults",
                        model->name);
    return s->table->config(s->model, s->defaults.values, s->table->n_args);
}

void
searcher_fini(struct searcher *s)
{
    if (s->model != NULL)
        s->table->destroy(s->model);
}

int
searcher_objectives(struct searcher *s, const struct tp_objectives *of)
{
    if (s->table == NULL || s->table->objectives == NULL)
        return TP_OK;
    return s->table->objectives(s->model, of);
}

/* Rungs stop many configurations early, of which a process that models results
 * makes little: those that are told so have none (auto/README.md, rule 3). */
int
searcher_space(struct searcher *s, const struct tp_space *space)
{
    const struct tp_plan many = {sizeof many, UINT64_MAX};

    s->last_id = TP_NO_ID;
    if (s->table == NULL)
        return TP_OK;
    if (s->table->space(s->model, space) != TP_OK)
        return TP_ERR;
    return s->table->plan == NULL ? TP_OK : s->table->plan(s->model, &many);
}

/* As the tuner random. */
static void
sample(struct searcher *s, uint64_t id, double *x)
{
    s->again = id == s->last_id ? s->again + 1 : 0;
    s->last_id = id;
    tp_sample(s->host, id ^ (s->again << 40), x);
}

int
searcher_ask(struct searcher *s, uint64_t id, struct tp_suggestion *out)
{
    if (s->table != NULL)
        return s->table->ask(s->model, id, out);
    sample(s, id, out->x);
    return TP_OK;
}

int
searcher_tell(struct searcher *s, uint64_t id, const double *x, int how,
              double value, uint64_t step)
{
    const struct tp_result result = {
        ._struct_size = sizeof result,
        .how = how,
        .value = value,
        .step = step,
    };

    return searcher_tell_result(s, id, x, &result);
}

int
searcher_tell_result(struct searcher *s, uint64_t id, const double *x,
                     const struct tp_result *result)
{
    if (s->table == NULL)
        return TP_OK;
    return s->table->tell(s->model, id, x, result);
}

int
searcher_ended(struct searcher *s, uint64_t id, const double *x, int how)
{
    return s->table == NULL ? TP_OK : s->table->ended(s->model, id, x, how);
}

int
searcher_score(struct searcher *s, const double *const *points, size_t n,
               double *out)
{
    if (s->table != NULL)
        return s->table->score(s->model, points, n, out);
    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
    return TP_OK;
}

int
searcher_save(const struct searcher *s, const struct tp_sink *sink)
{
    if (s->table != NULL)
        return s->table->save(s->model, sink);
    tp_put_u64(sink, s->last_id);
    tp_put_u64(sink, s->again);
    return TP_OK;
}

int
searcher_load(struct searcher *s, const struct tp_source *source)
{
    if (s->table != NULL)
        return s->table->load(s->model, source);
    if (tp_get_u64(source, &s->last_id) == TP_OK &&
        tp_get_u64(source, &s->again) == TP_OK)
        return TP_OK;
    return tp_error(s->host, "what was asked for last is cut off");
}
