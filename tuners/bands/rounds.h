/* SPDX-License-Identifier: MIT */
/* rounds.h - brackets that are opened, go on to their next round, and end;
 * and which trial is in which.  For bands*.c. */
#ifndef TUNERS_BANDS_ROUNDS_H
#define TUNERS_BANDS_ROUNDS_H

#include "bands/bands.h"

/* Room for n trials of the round.  -1: out of memory. */
int bands_reserve(struct bands_bracket *k, size_t n, size_t n_dims);
void bands_bracket_free(struct bands_bracket *k);

/* Puts it behind the open ones, and takes it, also when it fails: -1. */
int bands_add(struct bands *b, struct bands_bracket *k);

/* The next bracket is ready.  -1: out of memory. */
int bands_open(struct bands *b);

/* What comes of the i-th open bracket, whose round is over: its next round is
 * ready, or it is gone.  -1: out of memory, it is as it was. */
int bands_advance(struct bands *b, size_t i);

/* The trial's place among those that are out, or where it belongs. */
size_t bands_out_find(const struct bands *b, uint64_t id);

/* -1: out of memory. */
int bands_out_add(struct bands *b, uint64_t id, struct bands_bracket *k,
                  size_t slot);

void bands_release_stale(struct bands *b);

/* So many more may be released later.  -1: out of memory. */
int bands_stale_reserve(struct bands *b, size_t more);

#endif
