/* SPDX-License-Identifier: MIT */
/* The first walk: the trials, their parameters and results. */
#include "replay/ranking_state.h"

#include "core/err.h"
#include "history/history.h"
#include "log/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static int
add_suggestion(struct ranking_walk *w, const struct history_suggestion *s)
{
    struct ranking_trial *t = ranking_find(w, s->id);

    if (t == NULL)
        t = add(w, s->id);
    if (t == NULL)
        return -1;
    free(t->parameters);
    t->parameters = strdup(s->parameters);
    return t->parameters == NULL ? -1 : 0;
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
ranking_final(struct ranking_walk *w, struct ranking_trial *t, const char *job,
              double value)
{
    struct ranking *out = w->out;
    const struct ranking_trial *best;

    if (t->has_final)
        return 0;
    t->has_final = true;
    t->final = value;
    t->job = strdup(job);
    best = w->best == 0 ? NULL : &out->trials[w->best - 1];
    if (is_better(out, t, best))
        w->best = (size_t)(t - out->trials) + 1;
    return t->job == NULL ? -1 : 0;
}

static int
add_result(struct ranking_walk *w, const struct history_fact *f)
{
    const char *id = f->trial == NULL ? NULL : f->trial->suggested.id;
    struct ranking_trial *t = id == NULL ? NULL : ranking_find(w, id);

    if (!f->metric.final || f->metric.n_values == 0 ||
        f->metric.standing != HISTORY_COUNTS || t == NULL)
        return 0;
    return ranking_final(w, t, f->job, f->metric.values[0].value);
}

int
ranking_collect(struct ranking_walk *w, struct err *err)
{
    struct history_reader *h = history_open_log(w->setup->path, err);
    uint64_t until = w->setup->until;
    struct history_fact f;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &f, err)) == 1) {
        bool wanted = until == 0 || f.record->number <= until;

        rc = 0;
        if (wanted && f.kind == HISTORY_SUGGESTED)
            rc = add_suggestion(w, f.suggestion);
        if (wanted && f.kind == HISTORY_REPORTED)
            rc = add_result(w, &f);
        if (rc != 0)
            ranking_no_memory(err);
    }
    history_close(h);
    return rc;
}
