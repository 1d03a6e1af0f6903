/* SPDX-License-Identifier: MIT */
/* DESIGN.  Saved are the slots in their order, beginning behind a free one:
 * entered in that order they come to the same places again. */
#include "tally.h"

#include "tunepipe/plugin.h"

#include <stdlib.h>

#define SLOTS_MIN 64

void
tally_fini(struct tally *s)
{
    free(s->slots);
    *s = (struct tally){0};
}

/* Fingerprints are evenly spread: their low bits are the place. */
static struct tally_slot *
find(const struct tally *s, const uint64_t key[2])
{
    size_t i = (size_t)key[1] & (s->n_slots - 1);

    while (s->slots[i].count_1 > 0 &&
           (s->slots[i].key[0] != key[0] || s->slots[i].key[1] != key[1]))
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static int
grow(struct tally *s)
{
    struct tally wider = {.n_slots =
                              s->n_slots > 0 ? 2 * s->n_slots : SLOTS_MIN,
                          .used = s->used};

    wider.slots = calloc(wider.n_slots, sizeof *wider.slots);
    if (wider.slots == NULL)
        return -1;
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].count_1 > 0)
            *find(&wider, s->slots[i].key) = s->slots[i];
    free(s->slots);
    *s = wider;
    return 0;
}

uint64_t *
tally_count(struct tally *s, const uint64_t key[2])
{
    struct tally_slot *slot;

    if (2 * s->used >= s->n_slots && grow(s) != 0)
        return NULL;
    slot = find(s, key);
    if (slot->count_1 == 0) {
        *slot = (struct tally_slot){{key[0], key[1]}, 1};
        s->used++;
    }
    return &slot->count_1;
}

bool
tally_has(const struct tally *s, const uint64_t key[2])
{
    return s->n_slots > 0 && find(s, key)->count_1 > 1;
}

void
tally_save(const struct tally *s, const struct tp_sink *sink)
{
    size_t gap = 0;

    sink->u64(sink->ctx, s->n_slots);
    sink->u64(sink->ctx, s->used);
    while (gap < s->n_slots && s->slots[gap].count_1 > 0)
        gap++;
    for (size_t i = 1; i < s->n_slots; i++) {
        const struct tally_slot *slot = &s->slots[(gap + i) & (s->n_slots - 1)];

        if (slot->count_1 == 0)
            continue;
        sink->u64(sink->ctx, slot->key[0]);
        sink->u64(sink->ctx, slot->key[1]);
        sink->u64(sink->ctx, slot->count_1);
    }
}

/* Whether tally_count() could have made it so. */
static int
is_size(uint64_t n_slots, uint64_t used)
{
    if (n_slots == 0)
        return used == 0;
    return n_slots >= SLOTS_MIN && (n_slots & (n_slots - 1)) == 0 &&
           used <= n_slots / 2 && (n_slots == SLOTS_MIN || used >= n_slots / 4);
}

const char *
tally_load(struct tally *s, const struct tp_source *source)
{
    struct tally_slot got;
    uint64_t n_slots, used;

    if (source->u64(source->ctx, &n_slots) != TP_OK ||
        source->u64(source->ctx, &used) != TP_OK ||
        used > source->left(source->ctx) / sizeof got ||
        !is_size(n_slots, used))
        return "the number of parameters given out is damaged";
    if (n_slots == 0)
        return NULL;
    s->slots = calloc((size_t)n_slots, sizeof *s->slots);
    if (s->slots == NULL)
        return "out of memory";
    s->n_slots = (size_t)n_slots;
    for (; s->used < used; s->used++) {
        struct tally_slot *slot;

        source->u64(source->ctx, &got.key[0]);
        source->u64(source->ctx, &got.key[1]);
        source->u64(source->ctx, &got.count_1);
        slot = find(s, got.key);
        if (got.count_1 == 0 || slot->count_1 > 0)
            return "the parameters given out are damaged";
        *slot = got;
    }
    return NULL;
}
