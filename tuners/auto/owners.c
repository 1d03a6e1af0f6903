/* SPDX-License-Identifier: MIT */
#include "auto/owners.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <stdlib.h>
#include <string.h>

void
owners_init(struct owners *o)
{
    *o = (struct owners){.last = TP_NO_ID};
}

void
owners_fini(struct owners *o)
{
    free(o->runs);
    free(o->open);
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
    if (GROW(o->runs, o->n, o->room) != 0)
        return -1;
    o->runs[o->n++] = (struct owners_run){first, part};
    return 0;
}

static int
add_open(struct owners *o, uint64_t id)
{
    if (GROW(o->open, o->n_open, o->open_room) != 0)
        return -1;
    o->open[o->n_open++] = id;
    return 0;
}

int
owners_add(struct owners *o, uint64_t id, size_t part)
{
    if (add_open(o, id) != 0)
        return -1;
    if ((o->n == 0 || o->runs[o->n - 1].part != part) &&
        add_run(o, id, part) != 0) {
        o->n_open--;
        return -1;
    }
    o->last = id;
    return 0;
}

bool
owners_close(struct owners *o, uint64_t id)
{
    size_t low = 0, high = o->n_open;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->open[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == o->n_open || o->open[low] != id)
        return false;
    o->n_open--;
    memmove(&o->open[low], &o->open[low + 1],
            (o->n_open - low) * sizeof *o->open);
    return true;
}

void
owners_close_all(struct owners *o)
{
    o->n_open = 0;
}

void
owners_save(const struct owners *o, const struct tp_sink *sink)
{
    tp_put_u64(sink, o->last);
    tp_put_u64(sink, o->n);
    for (size_t i = 0; i < o->n; i++) {
        tp_put_u64(sink, o->runs[i].first);
        tp_put_u64(sink, o->runs[i].part);
    }
    tp_put_u64(sink, o->n_open);
    for (size_t i = 0; i < o->n_open; i++)
        tp_put_u64(sink, o->open[i]);
}

static int
load_open(struct owners *o, const struct tp_source *source)
{
    uint64_t n, id;

    if (tp_get_u64(source, &n) != TP_OK || n > tp_left(source) / sizeof id)
        return -1;
    for (uint64_t i = 0; i < n; i++)
        if (tp_get_u64(source, &id) != TP_OK || owners_of(o, id) < 0 ||
            (i > 0 && id <= o->open[i - 1]) || add_open(o, id) != 0)
            return -1;
    return 0;
}

int
owners_load(struct owners *o, const struct tp_source *source, size_t n_parts)
{
    uint64_t n, first, part, last;

    owners_fini(o);
    if (tp_get_u64(source, &last) != TP_OK || tp_get_u64(source, &n) != TP_OK ||
        n > tp_left(source) / 16 || (n == 0) != (last == TP_NO_ID))
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        if (tp_get_u64(source, &first) != TP_OK ||
            tp_get_u64(source, &part) != TP_OK || part >= n_parts ||
            first > last ||
            (o->n > 0 && (first <= o->runs[o->n - 1].first ||
                          part == o->runs[o->n - 1].part)) ||
            add_run(o, first, part) != 0)
            return -1;
    }
    o->last = last;
    return load_open(o, source);
}
