/* SPDX-License-Identifier: MIT */
#include "core/map.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo) over eight bytes at a time, then one multiply-
 * shift to spread the high bits. */
static uint64_t
hash_bytes(const void *key, size_t len)
{
    const unsigned char *p = key;
    uint64_t h = 0xcbf29ce484222325u ^ len;

    for (; len >= 8; len -= 8, p += 8) {
        uint64_t word;

        memcpy(&word, p, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    for (; len > 0; len--)
        h = (h ^ *p++) * 0x100000001b3u;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* The slot that holds the key, or the free one where it would go. */
static struct map_slot *
find(const struct map *m, const void *key, size_t len, uint64_t hash)
{
    size_t mask = m->n_slots - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *s = &m->slots[i];

        if (s->key == NULL ||
            (s->hash == hash && s->len == len && memcmp(s->key, key, len) == 0))
            return s;
    }
}

void
map_fini(struct map *m)
{
    for (size_t i = 0; i < m->n_slots; i++)
        free(m->slots[i].key);
    free(m->slots);
    *m = (struct map){0};
}

void *
map_get(const struct map *m, const void *key, size_t len)
{
    if (m->count == 0)
        return NULL;
    return find(m, key, len, hash_bytes(key, len))->value;
}

static int
grow(struct map *m)
{
    struct map bigger = {.n_slots = m->n_slots == 0 ? 16 : m->n_slots * 2};

    bigger.slots = calloc(bigger.n_slots, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return -1;
    bigger.count = m->count;
    for (size_t i = 0; i < m->n_slots; i++) {
        const struct map_slot *s = &m->slots[i];

        if (s->key != NULL)
            *find(&bigger, s->key, s->len, s->hash) = *s;
    }
    free(m->slots);
    *m = bigger;
    return 0;
}

int
map_put(struct map *m, const void *key, size_t len, void *value)
{
    uint64_t hash = hash_bytes(key, len);
    struct map_slot *s;
    char *copy;

    if ((m->count + 1) * 4 > m->n_slots * 3 && grow(m) != 0)
        return -1;
    s = find(m, key, len, hash);
    if (s->key == NULL) {
        copy = malloc(len + 1); /* never 0 bytes */
        if (copy == NULL)
            return -1;
        memcpy(copy, key, len);
        copy[len] = '\0';
        *s = (struct map_slot){copy, len, hash, NULL};
        m->count++;
    }
    s->value = value;
    return 0;
}

/* Closes the gap that a removed key has left at i (Knuth 6.4, algorithm R), so
 * that no tombstones are needed and the table does not age. */
static void
close_gap(struct map *m, size_t i)
{
    size_t mask = m->n_slots - 1;

    for (size_t j = (i + 1) & mask; m->slots[j].key != NULL;
         j = (j + 1) & mask) {
        size_t home = m->slots[j].hash & mask;

        if (((j - home) & mask) < ((j - i) & mask))
            continue;
        m->slots[i] = m->slots[j];
        i = j;
    }
    m->slots[i] = (struct map_slot){0};
}

void *
map_remove(struct map *m, const void *key, size_t len)
{
    struct map_slot *s;
    void *value;

    if (m->count == 0)
        return NULL;
    s = find(m, key, len, hash_bytes(key, len));
    if (s->key == NULL)
        return NULL;
    value = s->value;
    free(s->key);
    m->count--;
    close_gap(m, (size_t)(s - m->slots));
    return value;
}

void *
map_next(const struct map *m, size_t *at)
{
    while (*at < m->n_slots) {
        const struct map_slot *s = &m->slots[(*at)++];

        if (s->key != NULL)
            return s->value;
    }
    return NULL;
}

static int
by_key(const void *va, const void *vb)
{
    const struct map_slot *a = *(const struct map_slot *const *)va;
    const struct map_slot *b = *(const struct map_slot *const *)vb;
    int rc = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);

    return rc != 0 ? rc : (a->len > b->len) - (a->len < b->len);
}

static int
by_number(const void *va, const void *vb, void *offset)
{
    uint64_t a, b;

    memcpy(&a, *(char *const *)va + *(size_t *)offset, sizeof a);
    memcpy(&b, *(char *const *)vb + *(size_t *)offset, sizeof b);
    return (a > b) - (a < b);
}

void *
map_by_number(const struct map *m, size_t offset, size_t *n)
{
    void **all = malloc(m->count * sizeof *all + 1), *value;
    size_t at = 0;

    *n = 0;
    while (all != NULL && (value = map_next(m, &at)) != NULL)
        all[(*n)++] = value;
    if (*n > 1)
        qsort_r(all, *n, sizeof *all, by_number, &offset);
    return all;
}

const struct map_slot **
map_sorted(const struct map *m)
{
    const struct map_slot **sorted = malloc(m->count * sizeof *sorted + 1);
    size_t n = 0;

    if (sorted == NULL)
        return NULL;
    for (size_t i = 0; i < m->n_slots; i++)
        if (m->slots[i].key != NULL)
            sorted[n++] = &m->slots[i];
    qsort(sorted, n, sizeof(const struct map_slot *), by_key);
    return sorted;
}
