/* SPDX-License-Identifier: MIT */
/* twins.h - keys of points, to tell at once whether one was tried before. */
#ifndef TUNERS_TPE_TWINS_H
#define TUNERS_TPE_TWINS_H

#include "keyset/keyset.h"
#include "tpe/axis.h"

#include <stddef.h>
#include <stdint.h>

/* Of n coordinates, bit by bit; the upper half is 0. */
void tpe_twins_key(const double *at, size_t n, uint64_t key[2]);
void tpe_twins_key_of_places(const struct place *at, size_t n, uint64_t key[2]);

/* Adds that of n coordinates.  -1: out of memory. */
int tpe_twins_add(struct keyset *twins, const double *at, size_t n);

struct tp_sink;
struct tp_source;

/* As bytes, and into an empty set.  NULL, or what is wrong. */
void tpe_twins_save(const struct keyset *twins, const struct tp_sink *sink);
const char *tpe_twins_load(struct keyset *twins,
                           const struct tp_source *source);

#endif
