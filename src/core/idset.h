/* SPDX-License-Identifier: MIT */
/* idset.h - a set of small integers, one bit each: which of the ids that were
 * given out have ended.  Whoever adds ids bounds them.  One thread. */
#ifndef CORE_IDSET_H
#define CORE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct unpack;

struct idset {
    uint64_t *words;
    size_t n_words;
};

/* A zeroed struct idset is an empty one. */
void idset_fini(struct idset *s);
bool idset_has(const struct idset *s, uint64_t id);
uint64_t idset_count(const struct idset *s);
int idset_add(struct idset *s, uint64_t id); /* -1: out of memory */
/* Removes the lowest id, which there is, and returns it. */
uint64_t idset_take_first(struct idset *s);

/* Packs the set, the same bytes for the same ids, and reads it into an empty
 * one, as pack.h says; -1: damaged, or out of memory. */
void idset_save(const struct idset *s, struct buf *out);
int idset_load(struct idset *s, struct unpack *in);

#endif
