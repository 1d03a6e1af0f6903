/* SPDX-License-Identifier: MIT */
#include "asha/places.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

void
asha_places_fini(struct asha *a)
{
    free(a->pool);
    free(a->x);
    free(a->outs);
    a->pool = NULL;
    a->x = NULL;
    a->outs = NULL;
    a->n_pool = a->room_pool = 0;
    a->n_outs = a->room_outs = a->n_ended = 0;
    a->free = RUNG_NONE;
}

static int
grow_pool(struct asha *a)
{
    size_t room = a->room_pool == 0 ? ROOM_FIRST : a->room_pool * 2;
    struct asha_config *pool;
    double *x;

    if (room >= RUNG_NONE ||
        (a->n_dims > 0 && room > SIZE_MAX / sizeof *x / a->n_dims))
        return -1;
    pool = realloc(a->pool, room * sizeof *pool);
    if (pool == NULL)
        return -1;
    a->pool = pool;
    if (a->options.promotes && a->n_dims > 0) {
        x = realloc(a->x, room * a->n_dims * sizeof *x);
        if (x == NULL)
            return -1;
        a->x = x;
    }
    a->room_pool = room;
    return 0;
}

uint32_t
asha_places_add(struct asha *a)
{
    uint32_t place = a->free;

    if (place != RUNG_NONE) {
        a->free = a->pool[place].next;
    } else {
        if (a->n_pool == a->room_pool && grow_pool(a) != 0)
            return RUNG_NONE;
        place = (uint32_t)a->n_pool++;
        for (size_t i = 0; a->x != NULL && i < a->n_dims; i++)
            a->x[place * a->n_dims + i] = 0;
    }
    a->pool[place] = (struct asha_config){
        .next = RUNG_NONE, .entry = RUNG_NONE, .is_used = 1};
    return place;
}

void
asha_places_drop(struct asha *a, uint32_t place)
{
    a->pool[place] = (struct asha_config){.next = a->free, .entry = RUNG_NONE};
    a->free = place;
}

void
asha_places_put(struct asha *a, uint32_t place, const double *x)
{
    if (a->x != NULL)
        memcpy(a->x + place * a->n_dims, x, a->n_dims * sizeof *x);
}

void
asha_places_get(const struct asha *a, uint32_t place, double *x)
{
    if (a->x != NULL)
        memcpy(x, a->x + place * a->n_dims, a->n_dims * sizeof *x);
}

static int
grow_outs(struct asha *a)
{
    size_t room = a->room_outs == 0 ? ROOM_FIRST : a->room_outs * 2;
    struct asha_out *outs = realloc(a->outs, room * sizeof *outs);

    if (outs == NULL)
        return -1;
    a->outs = outs;
    a->room_outs = room;
    return 0;
}

struct asha_out *
asha_places_out(struct asha *a, uint64_t id, uint32_t place)
{
    struct asha_out *o;

    if (a->n_outs == a->room_outs && grow_outs(a) != 0)
        return NULL;
    for (o = &a->outs[a->n_outs++]; o > a->outs && o[-1].id > id; o--)
        *o = o[-1];
    *o = (struct asha_out){.id = id, .from = ASHA_NO_ID, .config = place};
    return o;
}

struct asha_out *
asha_places_find(const struct asha *a, uint64_t id)
{
    size_t low = 0, high = a->n_outs;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (a->outs[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == a->n_outs || a->outs[low].id != id ||
        a->outs[low].config == RUNG_NONE)
        return NULL;
    return &a->outs[low];
}

void
asha_places_end(struct asha *a, struct asha_out *o)
{
    size_t n = 0;

    o->config = RUNG_NONE;
    if (++a->n_ended * 2 <= a->n_outs)
        return;
    for (size_t i = 0; i < a->n_outs; i++)
        if (a->outs[i].config != RUNG_NONE)
            a->outs[n++] = a->outs[i];
    a->n_outs = n;
    a->n_ended = 0;
}
