/* SPDX-License-Identifier: MIT */
/* map.h - a hash table from short byte strings (copied) to pointers (the
 * caller's).  Open addressing; keys from outside are hashed with a fixed,
 * keyless function, so that walks are the same on every machine: who lets a
 * peer choose keys bounds their number.  One thread. */
#ifndef CORE_MAP_H
#define CORE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    char *key; /* NULL: free; len bytes */
    size_t len;
    uint64_t hash;
    void *value;
};

struct map {
    struct map_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    size_t count;
};

/* A zeroed struct map is an empty one. */
void map_fini(struct map *m); /* values are the caller's to free before */

/* The key's value; NULL when the key is absent. */
void *map_get(const struct map *m, const void *key, size_t len);

/* Adds a key or replaces its value, which is not NULL.  -1: out of memory,
 * nothing changed. */
int map_put(struct map *m, const void *key, size_t len, void *value);

/* Removes a key and returns its value; NULL when it is absent. */
void *map_remove(struct map *m, const void *key, size_t len);

/* Walks through the values: start with *at = 0; NULL at the end.  Nothing may
 * be added or removed meanwhile. */
void *map_next(const struct map *m, size_t *at);

/* The slots in use, by the bytes of their keys, the shorter of two that begin
 * alike first: an array of m->count, to be freed; NULL: out of memory. */
const struct map_slot **map_sorted(const struct map *m);

/* The values, in the order of the uint64_t that each has `offset` bytes behind
 * its beginning: an array of pointers to be freed, of *n; NULL: out of memory,
 * and *n is 0. */
void *map_by_number(const struct map *m, size_t offset, size_t *n);

#endif
