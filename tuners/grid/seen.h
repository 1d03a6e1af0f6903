/* SPDX-License-Identifier: MIT */
/* seen.h - a set of 128-bit keys: what was tried already.  It only grows; 32
 * to 64 bytes a key.  One thread. */
#ifndef TUNERS_GRID_SEEN_H
#define TUNERS_GRID_SEEN_H

#include <stddef.h>
#include <stdint.h>

struct tp_sink;
struct tp_source;

struct seen {
    uint64_t (*slots)[2]; /* {0, 0}: free */
    size_t n_slots;       /* a power of two, or 0 */
    size_t count;
};

/* A zeroed struct seen is an empty one. */
void seen_fini(struct seen *s);

/* 1: added; 0: it was there; -1: out of memory. */
int seen_add(struct seen *s, const uint64_t key[2]);

/* Load: into an empty one; why it failed, or NULL. */
void seen_save(const struct seen *s, const struct tp_sink *sink);
const char *seen_load(struct seen *s, const struct tp_source *source);

#endif
