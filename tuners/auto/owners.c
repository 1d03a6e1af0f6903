/* SPDX-License-Identifier: MIT */
#include "auto/owners.h"

#include <stdlib.h>

void
owners_init(struct owners *o)
{
    *o = (struct owners){.last = TP_NO_ID};
}

void
owners_fini(struct owners *o)
{
    free(o->runs);
    owners_init(o);
}

int
owners_of(const struct owners *o, uint64_t id)
{
    size_t low = 0, high = o->n; /* the first run that begins behind id */

    if (o->last == TP_NO_ID || id > o->last)
        return -1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->runs[middle].first <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? -1 : (int)o->runs[low - 1].part;
}

static int
add_run(struct owners *o, uint64_t first, uint64_t part)
{
    if (o->n == o->room) {
        size_t room = o->room < 16 ? 16 : o->room * 2;
        struct owners_run *runs = realloc(o->runs, room * sizeof *runs);

        if (runs == NULL)
            return -1;
        o->runs = runs;
        o->room = room;
    }
    o->runs[o->n++] = (struct owners_run){first, part};
    return 0;
}

int
owners_add(struct owners *o, uint64_t id, size_t part)
{
    if ((o->n == 0 || o->runs[o->n - 1].part != part) &&
        add_run(o, id, part) != 0)
        return -1;
    o->last = id;
    return 0;
}

void
owners_save(const struct owners *o, const struct tp_sink *sink)
{
    sink->u64(sink->ctx, o->last);
    sink->u64(sink->ctx, o->n);
    for (size_t i = 0; i < o->n; i++) {
        sink->u64(sink->ctx, o->runs[i].first);
        sink->u64(sink->ctx, o->runs[i].part);
    }
}

int
owners_load(struct owners *o, const struct tp_source *source, size_t n_parts)
{
    uint64_t n, first, part, last;

    owners_fini(o);
    if (source->u64(source->ctx, &last) != TP_OK ||
        source->u64(source->ctx, &n) != TP_OK ||
        n > source->left(source->ctx) / 16 || (n == 0) != (last == TP_NO_ID))
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        if (source->u64(source->ctx, &first) != TP_OK ||
            source->u64(source->ctx, &part) != TP_OK || part >= n_parts ||
            first > last ||
            (o->n > 0 && (first <= o->runs[o->n - 1].first ||
                          part == o->runs[o->n - 1].part)) ||
            add_run(o, first, part) != 0)
            return -1;
    }
    o->last = last;
    return 0;
}
