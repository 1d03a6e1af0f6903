/* SPDX-License-Identifier: MIT */
#include "dispatcher/origins.h"

#include "command.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

#define SAID_ALL                                          \
    (ORIGIN_SAID(TRIAL_STOP) | ORIGIN_SAID(TRIAL_PAUSE) | \
     ORIGIN_SAID(TRIAL_FINISH) | ORIGIN_SAID(TRIAL_RELEASE))

static void
origin_free(struct origin *origin)
{
    if (origin == NULL)
        return;
    free(origin->job);
    free(origin);
}

void
origins_fini(struct origins *o)
{
    struct origin *origin;
    size_t at = 0;

    while ((origin = map_next(&o->by_id, &at)) != NULL)
        origin_free(origin);
    map_fini(&o->by_id);
}

struct origin *
origins_find(const struct origins *o, uint64_t id)
{
    return map_get(&o->by_id, &id, sizeof id);
}

struct origin *
origins_add(struct origins *o, uint64_t id, const double *x, size_t n_dims)
{
    struct origin *origin;

    if (origins_find(o, id) != NULL)
        return NULL;
    origin = calloc(1, sizeof *origin + n_dims * sizeof *x);
    if (origin == NULL || map_put(&o->by_id, &id, sizeof id, origin) != 0) {
        free(origin);
        return NULL;
    }
    origin->id = id;
    origin->n_dims = n_dims;
    memcpy(origin->x, x, n_dims * sizeof *x);
    return origin;
}

void
origins_remove(struct origins *o, struct origin *origin)
{
    map_remove(&o->by_id, &origin->id, sizeof origin->id);
    origin_free(origin);
}

int
origin_set_job(struct origin *origin, const char *job)
{
    origin->job = strdup(job);
    return origin->job == NULL ? -1 : 0;
}

static int
by_id(const void *va, const void *vb)
{
    const struct origin *const *a = va, *const *b = vb;

    return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

struct origin **
origins_sorted(const struct origins *o, size_t *n)
{
    struct origin **sorted = malloc(o->by_id.count * sizeof(*sorted) + 1);
    struct origin *origin;
    size_t at = 0;

    *n = 0;
    while (sorted != NULL && (origin = map_next(&o->by_id, &at)) != NULL)
        sorted[(*n)++] = origin;
    if (*n > 1)
        qsort(sorted, *n, sizeof *sorted, by_id);
    return sorted;
}

uint64_t
origins_end(const struct origins *o)
{
    const struct origin *origin;
    uint64_t end = 0;
    size_t at = 0;

    while ((origin = map_next(&o->by_id, &at)) != NULL)
        if (origin->id >= end)
            end = origin->id + 1;
    return end;
}

/* ---- packed ---- */

void
origins_save(const struct origins *o, struct buf *out)
{
    size_t n;
    struct origin **sorted = origins_sorted(o, &n);

    pack_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        const struct origin *origin = sorted[i];

        pack_u64(out, origin->id);
        pack_u64(out, origin->n_dims);
        pack_f64s(out, origin->x, origin->n_dims);
        pack_text(out, origin->job);
        pack_u64(out, origin->said);
        pack_u64(out, origin->waiting);
        pack_u64(out, origin->ended);
        pack_u64(out, origin->attempt);
        pack_u64(out, origin->next);
    }
    out->failed = out->failed || sorted == NULL;
    free(sorted);
}

static struct origin *
load_point(struct origins *o, struct unpack *in)
{
    uint64_t id = unpack_u64(in);
    size_t n_dims = unpack_count(in, sizeof(double));
    double *x = malloc(n_dims * sizeof *x + 1);
    struct origin *origin = NULL;

    if (x != NULL) {
        unpack_f64s(in, x, n_dims);
        origin = in->failed ? NULL : origins_add(o, id, x, n_dims);
    }
    free(x);
    return origin;
}

static void
load_one(struct origins *o, struct unpack *in)
{
    struct origin *origin = load_point(o, in);
    const char *job = unpack_text(in);
    uint64_t said, waiting;

    if (origin == NULL || (job != NULL && origin_set_job(origin, job) != 0)) {
        unpack_fail(in);
        return;
    }
    said = unpack_u64(in);
    waiting = unpack_u64(in);
    origin->ended = unpack_bool(in);
    origin->attempt = unpack_u64(in);
    origin->next = unpack_u64(in);
    if ((said & ~(uint64_t)SAID_ALL) != 0 || (waiting & ~said) != 0)
        unpack_fail(in);
    origin->said = (unsigned)said;
    origin->waiting = (unsigned)waiting;
}

int
origins_load(struct origins *o, struct unpack *in)
{
    size_t n = unpack_count(in, 8 * sizeof(uint64_t));

    for (size_t i = 0; i < n && !in->failed; i++)
        load_one(o, in);
    return in->failed ? -1 : 0;
}
