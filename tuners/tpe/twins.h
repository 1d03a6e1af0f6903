/* SPDX-License-Identifier: MIT */
/* twins.h - keys of points, to tell at once whether one was tried before. */
#ifndef TUNERS_TPE_TWINS_H
#define TUNERS_TPE_TWINS_H

#include "tpe/axis.h"

#include <stddef.h>
#include <stdint.h>

/* Of n coordinates, bit by bit; the upper half is 0. */
void tpe_twins_key(const double *at, size_t n, uint64_t key[2]);
void tpe_twins_key_of_places(const struct place *at, size_t n, uint64_t key[2]);

#endif
