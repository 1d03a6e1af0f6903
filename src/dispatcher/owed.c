/* SPDX-License-Identifier: MIT */
#include "dispatcher/owed.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

void
owed_fini(struct owed *o)
{
    free(o->runs);
    *o = (struct owed){0};
}

int
owed_add(struct owed *o, uint64_t first, uint64_t count)
{
    struct owed_run *last = o->n_runs > 0 ? &o->runs[o->n_runs - 1] : NULL;

    if (count == 0)
        return 0;
    if (last != NULL && last->first + last->count == first) {
        last->count += count;
    } else {
        if (GROW(o->runs, o->n_runs, o->cap) != 0)
            return -1;
        o->runs[o->n_runs++] = (struct owed_run){first, count};
    }
    o->total += count;
    return 0;
}

uint64_t
owed_first(const struct owed *o)
{
    return o->runs[0].first;
}

void
owed_pop(struct owed *o)
{
    o->runs[0].first++;
    o->total--;
    if (--o->runs[0].count == 0)
        memmove(o->runs, o->runs + 1, --o->n_runs * sizeof *o->runs);
}

bool
owed_has(const struct owed *o, uint64_t id)
{
    for (size_t i = 0; i < o->n_runs; i++)
        if (id >= o->runs[i].first && id - o->runs[i].first < o->runs[i].count)
            return true;
    return false;
}

void
owed_clear(struct owed *o)
{
    o->n_runs = 0;
    o->total = 0;
}

uint64_t
owed_end(const struct owed *o)
{
    const struct owed_run *last;

    if (o->n_runs == 0)
        return 0;
    last = &o->runs[o->n_runs - 1];
    return last->first + last->count;
}

void
owed_save(const struct owed *o, struct buf *out)
{
    pack_u64(out, o->n_runs);
    for (size_t i = 0; i < o->n_runs; i++) {
        pack_u64(out, o->runs[i].first);
        pack_u64(out, o->runs[i].count);
    }
}

int
owed_load(struct owed *o, struct unpack *in)
{
    size_t n = unpack_count(in, sizeof(struct owed_run));

    for (size_t i = 0; i < n && !in->failed; i++) {
        uint64_t first = unpack_u64(in), count = unpack_u64(in);

        if (count == 0 || first < owed_end(o) || count > UINT64_MAX - first ||
            owed_add(o, first, count) != 0)
            unpack_fail(in);
    }
    return in->failed ? -1 : 0;
}
