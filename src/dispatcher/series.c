/* SPDX-License-Identifier: MIT */
#include "dispatcher/series.h"

#include "core/grow.h"
#include "core/map.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

struct series_map {
    struct map by_job;
    uint64_t n_trials; /* trials that ever had a series */
};

struct series_map *
series_map_new(void)
{
    return calloc(1, sizeof(struct series_map));
}

void
series_free(struct series *series)
{
    if (series == NULL)
        return;
    free(series->values);
    free(series->early);
    free(series);
}

void
series_map_free(struct series_map *m)
{
    struct series *series;
    size_t at = 0;

    if (m == NULL)
        return;
    while ((series = map_next(&m->by_job, &at)) != NULL)
        series_free(series);
    map_fini(&m->by_job);
    free(m);
}

struct series *
series_get(struct series_map *m, const char *job)
{
    size_t len = strlen(job);
    struct series *series = map_get(&m->by_job, job, len);

    if (series != NULL)
        return series;
    series = calloc(1, sizeof *series);
    if (series == NULL || map_put(&m->by_job, job, len, series) != 0) {
        free(series);
        return NULL;
    }
    series->trial = m->n_trials++;
    return series;
}

struct series *
series_find(const struct series_map *m, const char *job)
{
    return map_get(&m->by_job, job, strlen(job));
}

struct series *
series_remove(struct series_map *m, const char *job)
{
    return map_remove(&m->by_job, job, strlen(job));
}

void
series_restart(struct series *series, uint64_t attempt)
{
    series->attempt = attempt;
    series->n = series->n_early = 0;
    series->slot = NULL;
}

static int
append_value(struct series *series, double value)
{
    if (GROW(series->values, series->n, series->cap) != 0)
        return -1;
    series->values[series->n++] = value;
    return 0;
}

static int
keep_early(struct series *series, uint64_t sequence, double value)
{
    size_t at = series->n_early;

    if (GROW(series->early, series->n_early, series->early_cap) != 0)
        return -1;
    while (at > 0 && series->early[at - 1].sequence > sequence)
        at--;
    memmove(series->early + at + 1, series->early + at,
            (series->n_early - at) * sizeof *series->early);
    series->early[at] = (struct early){sequence, value};
    series->n_early++;
    return 0;
}

/* Appends the early values that a gap no longer keeps back. */
static int
close_gap(struct series *series)
{
    size_t used = 0;

    while (used < series->n_early &&
           series->early[used].sequence == series->n) {
        if (append_value(series, series->early[used].value) != 0)
            return -1;
        used++;
    }
    series->n_early -= used;
    memmove(series->early, series->early + used,
            series->n_early * sizeof *series->early);
    return 0;
}

int
series_enter(struct series *series, uint64_t sequence, double value)
{
    if (sequence != series->n)
        return sequence < series->n ? 0 : keep_early(series, sequence, value);
    if (append_value(series, value) != 0)
        return -1;
    if (series->n_early > 0 && close_gap(series) != 0)
        return -1;
    return 1;
}

struct series **
series_sorted(const struct series_map *m, size_t *n)
{
    return map_by_number(&m->by_job, offsetof(struct series, trial), n);
}

/* ---- packed ---- */

static void
save_one(const struct series *series, struct buf *out)
{
    pack_u64(out, series->trial);
    pack_u64(out, series->attempt);
    pack_u64(out, series->stopped);
    pack_u64(out, series->n);
    pack_f64s(out, series->values, series->n);
    pack_u64(out, series->n_early);
    for (size_t i = 0; i < series->n_early; i++) {
        pack_u64(out, series->early[i].sequence);
        pack_f64(out, series->early[i].value);
    }
}

void
series_save(const struct series_map *m, struct buf *out)
{
    const struct map_slot **sorted = map_sorted(&m->by_job);

    pack_u64(out, m->n_trials);
    pack_u64(out, m->by_job.count);
    for (size_t i = 0; sorted != NULL && i < m->by_job.count; i++) {
        pack_text(out, sorted[i]->key);
        save_one(sorted[i]->value, out);
    }
    out->failed = out->failed || sorted == NULL;
    free(sorted);
}

static void
load_values(struct series *series, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof *series->values);

    if (n > 0 && (series->values = malloc(n * sizeof(double))) == NULL)
        unpack_fail(in);
    if (in->failed)
        return;
    series->n = series->cap = n;
    unpack_f64s(in, series->values, n);
}

static void
load_early(struct series *series, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof *series->early);
    uint64_t least = series->n + 1;

    if (n > 0 && (series->early = malloc(n * sizeof(struct early))) == NULL)
        unpack_fail(in);
    if (in->failed)
        return;
    series->n_early = series->early_cap = n;
    for (size_t i = 0; i < n; i++) {
        series->early[i].sequence = unpack_u64(in);
        series->early[i].value = unpack_f64(in);
        if (series->early[i].sequence < least)
            unpack_fail(in);
        least = series->early[i].sequence + 1;
    }
}

/* Adds one loaded series; fails, as it should, where the job has one
 * already. */
static void
load_one(struct series_map *m, struct unpack *in)
{
    const char *job = unpack_text(in);
    uint64_t known = m->n_trials;
    struct series *series;

    if (job == NULL || series_find(m, job) != NULL ||
        (series = series_get(m, job)) == NULL) {
        unpack_fail(in);
        return;
    }
    m->n_trials = known;
    series->trial = unpack_u64(in);
    series->attempt = unpack_u64(in);
    series->stopped = unpack_bool(in);
    load_values(series, in);
    load_early(series, in);
    if (series->trial >= known)
        unpack_fail(in);
}

int
series_load(struct series_map *m, struct unpack *in)
{
    size_t n;

    m->n_trials = unpack_u64(in);
    n = unpack_count(in, 6 * sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        load_one(m, in);
    return in->failed ? -1 : 0;
}
