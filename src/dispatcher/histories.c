/* SPDX-License-Identifier: MIT */
#include "dispatcher/histories.h"

#include "core/map.h"

#include <stdlib.h>
#include <string.h>

struct histories {
    struct map by_job;
    uint64_t n_trials; /* ever */
};

struct histories *
histories_new(void)
{
    return calloc(1, sizeof(struct histories));
}

void
history_free(struct history *history)
{
    if (history == NULL)
        return;
    free(history->values);
    free(history->early);
    free(history);
}

void
histories_free(struct histories *h)
{
    struct history *history;
    size_t at = 0;

    if (h == NULL)
        return;
    while ((history = map_next(&h->by_job, &at)) != NULL)
        history_free(history);
    map_fini(&h->by_job);
    free(h);
}

struct history *
histories_get(struct histories *h, const char *job)
{
    size_t len = strlen(job);
    struct history *history = map_get(&h->by_job, job, len);

    if (history != NULL)
        return history;
    history = calloc(1, sizeof *history);
    if (history == NULL || map_put(&h->by_job, job, len, history) != 0) {
        free(history);
        return NULL;
    }
    history->trial = h->n_trials++;
    return history;
}

struct history *
histories_find(const struct histories *h, const char *job)
{
    return map_get(&h->by_job, job, strlen(job));
}

struct history *
histories_remove(struct histories *h, const char *job)
{
    return map_remove(&h->by_job, job, strlen(job));
}

void
history_restart(struct history *history, uint64_t attempt)
{
    history->attempt = attempt;
    history->n = history->n_early = 0;
    history->slot = NULL;
}

static int
append(struct history *history, double value)
{
    if (history->n == history->cap) {
        size_t cap = history->cap == 0 ? 16 : history->cap * 2;
        double *values = realloc(history->values, cap * sizeof *values);

        if (values == NULL)
            return -1;
        history->values = values;
        history->cap = cap;
    }
    history->values[history->n++] = value;
    return 0;
}

static int
keep_early(struct history *history, uint64_t sequence, double value)
{
    size_t at = history->n_early;

    if (history->n_early == history->early_cap) {
        size_t cap = history->early_cap == 0 ? 8 : history->early_cap * 2;
        struct early *early = realloc(history->early, cap * sizeof *early);

        if (early == NULL)
            return -1;
        history->early = early;
        history->early_cap = cap;
    }
    while (at > 0 && history->early[at - 1].sequence > sequence)
        at--;
    memmove(history->early + at + 1, history->early + at,
            (history->n_early - at) * sizeof *history->early);
    history->early[at] = (struct early){sequence, value};
    history->n_early++;
    return 0;
}

/* Moves what no gap keeps back any more. */
static int
close_gap(struct history *history)
{
    size_t used = 0;

    while (used < history->n_early &&
           history->early[used].sequence == history->n) {
        if (append(history, history->early[used].value) != 0)
            return -1;
        used++;
    }
    history->n_early -= used;
    memmove(history->early, history->early + used,
            history->n_early * sizeof *history->early);
    return 0;
}

int
history_enter(struct history *history, uint64_t sequence, double value)
{
    if (sequence != history->n)
        return sequence < history->n ? 0 : keep_early(history, sequence, value);
    if (append(history, value) != 0)
        return -1;
    if (history->n_early > 0 && close_gap(history) != 0)
        return -1;
    return 1;
}
