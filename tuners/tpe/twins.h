/* SPDX-License-Identifier: MIT */
/* twins.h - a set of 64-bit keys of points, to tell at once whether one was
 * tried before.  It only grows; 16 to 32 bytes a key.  Keys that follow from
 * no point any more, because what was suggested there was moved, are listed,
 * too: 8 to 16 bytes more.  One thread. */
#ifndef TUNERS_TPE_TWINS_H
#define TUNERS_TPE_TWINS_H

#include "tpe/axis.h"

#include <stddef.h>
#include <stdint.h>

struct twins {
    uint64_t *slots; /* 0: free */
    size_t n_slots;  /* a power of two, or 0 */
    size_t count;
    uint64_t *left; /* keys that their points have left, in that order */
    size_t n_left, left_room;
};

/* A zeroed struct twins is an empty one. */
void tpe_twins_fini(struct twins *t);

/* Of n coordinates, bit by bit; never 0. */
uint64_t tpe_twins_key(const double *at, size_t n);
uint64_t tpe_twins_key_of_places(const struct place *at, size_t n);

int tpe_twins_add(struct twins *t, uint64_t key); /* -1: out of memory */

/* The same for a key that its point leaves. */
int tpe_twins_leave(struct twins *t, uint64_t key);

int tpe_twins_has(const struct twins *t, uint64_t key);

#endif
