/* SPDX-License-Identifier: MIT */
/* batch.h - a list that is worked off once, in its order; what was done
 * elsewhere is struck out.
 *
 * Elements are known by 128-bit keys; equal ones have equal keys, and each
 * of them stands for one piece of work.  One thread. */
#ifndef TUNERS_BATCH_BATCH_H
#define TUNERS_BATCH_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct batch_key {
    uint64_t word[2];
};

struct batch;

/* NULL: out of memory. */
struct batch *batch_new(void);
void batch_free(struct batch *b);

/* A new list, copied; what was given out or struck out of the lists before
 * stays done.  -1: out of memory, the list before stays. */
int batch_list(struct batch *b, const struct batch_key *keys, size_t n);

/* The next element's index to *out: 1; 0: there is none left; -1: out of
 * memory. */
int batch_next(struct batch *b, size_t *out);

/* Strikes out the first element with this key that is left, if there is
 * one.  -1: out of memory. */
int batch_strike(struct batch *b, struct batch_key key);

/* What was given out or struck out, n of them, of all lists; borrowed.  A new
 * batch with the same list and done with the same goes on from there. */
const struct batch_key *batch_done(const struct batch *b, size_t *n);

/* One that a batch before this one had done; it may be of an older list.  -1:
 * out of memory. */
int batch_take_done(struct batch *b, struct batch_key key);

#endif
