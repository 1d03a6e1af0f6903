/* SPDX-License-Identifier: MIT */
#include "tally.h"

#include <stdlib.h>

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
    struct tally wider = {.n_slots = s->n_slots > 0 ? 2 * s->n_slots : 64,
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
