/* SPDX-License-Identifier: MIT */
#include "dispatcher/histories.h"

#include "core/map.h"
#include "core/pack.h"

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

static int
by_trial(const void *va, const void *vb)
{
    const struct history *const *a = va, *const *b = vb;

    return ((*a)->trial > (*b)->trial) - ((*a)->trial < (*b)->trial);
}

struct history **
histories_sorted(const struct histories *h, size_t *n)
{
    struct history **sorted = malloc(h->by_job.count * sizeof *sorted + 1);
    struct history *history;
    size_t at = 0;

    *n = 0;
    while (sorted != NULL && (history = map_next(&h->by_job, &at)) != NULL)
        sorted[(*n)++] = history;
    if (*n > 1)
        qsort(sorted, *n, sizeof *sorted, by_trial);
    return sorted;
}

/* ---- packed ---- */

static void
save_one(const struct history *history, struct buf *out)
{
    pack_u64(out, history->trial);
    pack_u64(out, history->attempt);
    pack_u64(out, history->stopped);
    pack_u64(out, history->n);
    pack_f64s(out, history->values, history->n);
    pack_u64(out, history->n_early);
    for (size_t i = 0; i < history->n_early; i++) {
        pack_u64(out, history->early[i].sequence);
        pack_f64(out, history->early[i].value);
    }
}

void
histories_save(const struct histories *h, struct buf *out)
{
    const struct map_slot **sorted = map_sorted(&h->by_job);

    pack_u64(out, h->n_trials);
    pack_u64(out, h->by_job.count);
    for (size_t i = 0; sorted != NULL && i < h->by_job.count; i++) {
        pack_text(out, sorted[i]->key);
        save_one(sorted[i]->value, out);
    }
    out->failed = out->failed || sorted == NULL;
    free(sorted);
}

static void
load_values(struct history *history, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof *history->values);

    if (n > 0 && (history->values = malloc(n * sizeof(double))) == NULL)
        unpack_fail(in);
    if (in->failed)
        return;
    history->n = history->cap = n;
    unpack_f64s(in, history->values, n);
}

static void
load_early(struct history *history, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof *history->early);
    uint64_t least = history->n + 1;

    if (n > 0 && (history->early = malloc(n * sizeof(struct early))) == NULL)
        unpack_fail(in);
    if (in->failed)
        return;
    history->n_early = history->early_cap = n;
    for (size_t i = 0; i < n; i++) {
        history->early[i].sequence = unpack_u64(in);
        history->early[i].value = unpack_f64(in);
        if (history->early[i].sequence < least)
            unpack_fail(in);
        least = history->early[i].sequence;
    }
}

/* Fails, as it should, where the name is there already. */
static void
load_one(struct histories *h, struct unpack *in)
{
    const char *job = unpack_text(in);
    uint64_t known = h->n_trials;
    struct history *history;

    if (job == NULL || histories_find(h, job) != NULL ||
        (history = histories_get(h, job)) == NULL) {
        unpack_fail(in);
        return;
    }
    h->n_trials = known;
    history->trial = unpack_u64(in);
    history->attempt = unpack_u64(in);
    history->stopped = unpack_bool(in);
    load_values(history, in);
    load_early(history, in);
    if (history->trial >= known)
        unpack_fail(in);
}

int
histories_load(struct histories *h, struct unpack *in)
{
    size_t n;

    h->n_trials = unpack_u64(in);
    n = unpack_count(in, 6 * sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        load_one(h, in);
    return in->failed ? -1 : 0;
}
