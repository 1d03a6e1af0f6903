/* SPDX-License-Identifier: MIT */
#include "cmaes/known.h"

#include "grow.h"

#include <stdlib.h>

#define FACTS_MAX ((size_t)1 << 30)

void
cmaes_known_fini(struct cmaes_known *k)
{
    free(k->facts);
    free(k->slots);
    *k = (struct cmaes_known){.n = 0};
}

/* The slot that has the key, or the free one where it belongs. */
static size_t
slot_of(const struct cmaes_known *k, const uint64_t *key)
{
    size_t at = (size_t)key[0] & (k->n_slots - 1);

    while (k->slots[at] != 0) {
        const struct cmaes_fact *f = &k->facts[k->slots[at] - 1];

        if (f->key[0] == key[0] && f->key[1] == key[1])
            break;
        at = (at + 1) & (k->n_slots - 1);
    }
    return at;
}

struct cmaes_fact *
cmaes_known_find(const struct cmaes_known *k, const uint64_t *key)
{
    size_t at;

    if (k->n == 0)
        return NULL;
    at = slot_of(k, key);
    return k->slots[at] != 0 ? &k->facts[k->slots[at] - 1] : NULL;
}

/* Twice as many slots, and facts for half of them. */
static int
grow(struct cmaes_known *k)
{
    size_t n_slots = k->n_slots > 0 ? 2 * k->n_slots : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);

    if (slots == NULL ||
        grow_to(&k->facts, n_slots / 2, sizeof *k->facts) != 0) {
        free(slots);
        return -1;
    }
    free(k->slots);
    k->slots = slots;
    k->n_slots = n_slots;
    for (size_t i = 0; i < k->n; i++)
        slots[slot_of(k, k->facts[i].key)] = (uint32_t)i + 1;
    return 0;
}

int
cmaes_known_put(struct cmaes_known *k, const struct cmaes_fact *fact)
{
    size_t at;

    if (2 * (k->n + 1) > k->n_slots && (k->n >= FACTS_MAX || grow(k) != 0))
        return -1;
    at = slot_of(k, fact->key);
    if (k->slots[at] == 0) {
        k->facts[k->n++] = *fact;
        k->slots[at] = (uint32_t)k->n;
    } else {
        k->facts[k->slots[at] - 1] = *fact;
    }
    return 0;
}
