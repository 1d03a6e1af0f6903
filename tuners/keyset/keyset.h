/* SPDX-License-Identifier: MIT */
/* keyset.h - a set of 128-bit keys in the order in which they came: what was
 * tried already.  It only grows; 24 to 48 bytes a key.
 *
 * Keys are expected to be evenly spread, as fingerprints are; others are as
 * right, and slow.  Knows no plugin interface and is a header alone, because
 * each plugin is linked by itself.  One thread. */
#ifndef KEYSET_KEYSET_H
#define KEYSET_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEYSET_SLOTS_MIN 64

struct keyset {
    uint64_t (*keys)[2]; /* room for half as many as slots */
    size_t n;
    uint32_t *slots; /* of a key, its place + 1; 0: free */
    size_t n_slots;  /* a power of two, or 0 */
};

/* A zeroed struct keyset is an empty one. */
static inline void
keyset_fini(struct keyset *s)
{
    free(s->keys);
    free(s->slots);
    *s = (struct keyset){0};
}

/* Where the key is, or the free slot where it belongs; there are slots. */
static inline uint32_t *
keyset_slot(const struct keyset *s, const uint64_t key[2])
{
    size_t i = (size_t)key[0] & (s->n_slots - 1);

    while (s->slots[i] != 0 &&
           memcmp(s->keys[s->slots[i] - 1], key, sizeof *s->keys) != 0)
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static inline bool
keyset_has(const struct keyset *s, const uint64_t key[2])
{
    return s->n_slots > 0 && *keyset_slot(s, key) != 0;
}

/* -1: out of memory; the set is as it was. */
static inline int
keyset_grow(struct keyset *s)
{
    size_t n = s->n_slots == 0 ? KEYSET_SLOTS_MIN : s->n_slots * 2;
    uint64_t(*keys)[2];
    uint32_t *slots;

    if (n / 2 >= UINT32_MAX)
        return -1;
    keys = realloc(s->keys, n / 2 * sizeof *keys);
    if (keys == NULL)
        return -1;
    s->keys = keys;
    slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return -1;
    free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    for (size_t i = 0; i < s->n; i++)
        *keyset_slot(s, s->keys[i]) = (uint32_t)(i + 1);
    return 0;
}

/* 1: added; 0: it was there; -1: out of memory.  *place (unless NULL): how
 * many came before it. */
static inline int
keyset_add(struct keyset *s, const uint64_t key[2], size_t *place)
{
    uint32_t *slot;
    bool is_new;

    if (s->n * 2 >= s->n_slots && keyset_grow(s) != 0)
        return -1;
    slot = keyset_slot(s, key);
    is_new = *slot == 0;
    if (is_new) {
        memcpy(s->keys[s->n], key, sizeof *s->keys);
        *slot = (uint32_t)++s->n;
    }
    if (place != NULL)
        *place = *slot - 1;
    return is_new;
}

#endif
