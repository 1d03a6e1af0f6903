/* SPDX-License-Identifier: MIT */
/* The first walk: the trials, their parameters and results. */
#include "replay/ranking_state.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "replay/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *
parameters_of(const struct record *r)
{
    struct json *doc = json_parse(r->payload + 2, r->len - 2, JSON_NAN, NULL);
    struct jval v;
    struct buf text;
    char *out = NULL;

    buf_init(&text, SIZE_MAX / 2);
    if (doc != NULL && jval_get(json_root(doc), "parameters", &v)) {
        jval_write(v, &text);
        out = buf_take(&text);
    }
    buf_fini(&text);
    json_free(doc);
    return out;
}

/* NULL: out of memory. */
static struct ranking_trial *
add(struct ranking_walk *w, const char *key)
{
    struct ranking *out = w->out;
    struct ranking_trial *t;

    if (out->n == out->cap) {
        size_t cap = out->cap == 0 ? 64 : 2 * out->cap;
        void *grown = realloc(out->trials, cap * sizeof *out->trials);

        if (grown == NULL)
            return NULL;
        out->trials = grown;
        out->cap = cap;
    }
    t = &out->trials[out->n];
    *t = (struct ranking_trial){.id = strdup(key), .rank = NAN};
    if (t->id == NULL || map_put(&w->ids, key, strlen(key),
                                 (void *)(uintptr_t)(out->n + 1)) != 0) {
        free(t->id);
        return NULL;
    }
    out->n++;
    return t;
}

/* Given out: the last time counts, as that is what runs. */
int
ranking_collect_trial(struct ranking_walk *w, const char *key,
                      const struct record *r, struct err *err)
{
    struct ranking_trial *t = ranking_find(w, key);

    if (t == NULL)
        t = add(w, key);
    if (t == NULL)
        return ranking_no_memory(err);
    free(t->parameters);
    t->parameters = parameters_of(r);
    return 0;
}

struct ranking_trial *
ranking_find_of(const struct ranking_walk *w, const struct command *cmd)
{
    char *key = script_parameter_key(&cmd->metric.parameter);
    struct ranking_trial *t = key == NULL ? NULL : ranking_find(w, key);

    free(key);
    return t;
}

static bool
is_better(const struct ranking *out, const struct ranking_trial *a,
          const struct ranking_trial *b)
{
    if (isnan(a->final) || b == NULL)
        return !isnan(a->final);
    return out->maximize ? a->final > b->final : a->final < b->final;
}

int
ranking_collect_result(struct ranking_walk *w, const struct command *cmd,
                       struct err *err)
{
    struct ranking *out = w->out;
    struct ranking_trial *t, *best;

    if (cmd->code != CMD_METRIC || cmd->metric.type != METRIC_FINAL ||
        !cmd->metric.has_value)
        return 0;
    t = ranking_find_of(w, cmd);
    if (t == NULL || t->has_final)
        return 0;
    t->has_final = true;
    t->final = cmd->metric.value;
    t->job = strdup(cmd->metric.job);
    if (t->job == NULL)
        return ranking_no_memory(err);
    best = w->best == 0 ? NULL : &out->trials[w->best - 1];
    if (is_better(out, t, best))
        w->best = (size_t)(t - out->trials) + 1;
    return 0;
}
