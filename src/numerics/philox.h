/* SPDX-License-Identifier: MIT */
/* philox.h - the Philox4x32-10 counter-based generator: a bijection of 128-bit
 * counters for each 64-bit key.  Any thread, nothing fails, no state.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC'11.  Callers want random.h. */
#ifndef NUMERICS_PHILOX_H
#define NUMERICS_PHILOX_H

#include <stdint.h>

struct philox_block {
    uint32_t word[4];
};

struct philox_block philox(struct philox_block counter, const uint32_t key[2]);

#endif
