/* SPDX-License-Identifier: MIT */
#include "anneal/tried.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

void
tried_fini(struct tried *t)
{
    free(t->keys);
    free(t->slots);
    *t = (struct tried){0};
}

/* Where the key is, or the free slot where it belongs. */
static size_t *
find(const struct tried *t, const uint64_t key[2])
{
    size_t i = (size_t)key[0] & (t->n_slots - 1);

    while (t->slots[i] != 0 &&
           memcmp(t->keys[t->slots[i] - 1], key, sizeof *t->keys) != 0)
        i = (i + 1) & (t->n_slots - 1);
    return &t->slots[i];
}

static int
grow(struct tried *t)
{
    size_t n = t->n_slots == 0 ? SLOTS_MIN : t->n_slots * 2;
    uint64_t(*keys)[2] = realloc(t->keys, n / 2 * sizeof *keys);
    size_t *slots;

    if (keys == NULL)
        return -1;
    t->keys = keys;
    slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return -1;
    free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    for (size_t i = 0; i < t->n; i++)
        *find(t, t->keys[i]) = i + 1;
    return 0;
}

int
tried_add(struct tried *t, const uint64_t key[2])
{
    size_t *slot;

    if (t->n * 2 >= t->n_slots && grow(t) != 0)
        return -1;
    slot = find(t, key);
    if (*slot != 0)
        return 0;
    memcpy(t->keys[t->n], key, sizeof *t->keys);
    *slot = ++t->n;
    return 1;
}
