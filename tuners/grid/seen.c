/* SPDX-License-Identifier: MIT */
#include "grid/seen.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

void
seen_fini(struct seen *s)
{
    free(s->slots);
    *s = (struct seen){0};
}

/* Where the key is, or the free slot where it belongs. */
static uint64_t *
find(uint64_t (*slots)[2], size_t n_slots, const uint64_t key[2])
{
    size_t i = (size_t)key[0] & (n_slots - 1);

    while ((slots[i][0] | slots[i][1]) != 0 &&
           (slots[i][0] != key[0] || slots[i][1] != key[1]))
        i = (i + 1) & (n_slots - 1);
    return slots[i];
}

static int
grow(struct seen *s)
{
    size_t n = s->n_slots == 0 ? SLOTS_MIN : s->n_slots * 2;
    uint64_t(*slots)[2] = calloc(n, sizeof *slots);

    if (slots == NULL)
        return -1;
    for (size_t i = 0; i < s->n_slots; i++)
        if ((s->slots[i][0] | s->slots[i][1]) != 0)
            memcpy(find(slots, n, s->slots[i]), s->slots[i], sizeof *slots);
    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    return 0;
}

int
seen_add(struct seen *s, const uint64_t key[2])
{
    uint64_t *slot;

    if (s->count * 2 >= s->n_slots && grow(s) != 0)
        return -1;
    slot = find(s->slots, s->n_slots, key);
    if ((slot[0] | slot[1]) != 0)
        return 0;
    memcpy(slot, key, sizeof *s->slots);
    s->count++;
    return 1;
}
