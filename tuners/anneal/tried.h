/* SPDX-License-Identifier: MIT */
/* tried.h - a set of 128-bit keys in the order in which they came: what was
 * tried already.  It only grows; 32 to 64 bytes a key.  One thread. */
#ifndef ANNEAL_TRIED_H
#define ANNEAL_TRIED_H

#include <stddef.h>
#include <stdint.h>

struct tried {
    uint64_t (*keys)[2]; /* room for half as many as slots */
    size_t n;
    size_t *slots;  /* of a key, its place + 1; 0: free */
    size_t n_slots; /* a power of two, or 0 */
};

/* A zeroed struct tried is an empty one. */
void tried_fini(struct tried *t);

/* 1: added; 0: it was there; -1: out of memory. */
int tried_add(struct tried *t, const uint64_t key[2]);

#endif
