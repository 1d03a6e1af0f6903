/* SPDX-License-Identifier: MIT */
/* dice.h - many random numbers from one of the host's: SplitMix64 (Steele, Lea,
 * Flood, OOPSLA 2014), whose bits never change.  One thread, nothing fails. */
#ifndef TUNERS_SMAC_DICE_H
#define TUNERS_SMAC_DICE_H

#include "elementary.h"

#include <stddef.h>
#include <stdint.h>

struct dice {
    uint64_t state; /* begins as 64 bits of the host's */
};

static inline uint64_t
dice_bits(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [0, 1), 53 bits. */
static inline double
dice_uniform(struct dice *d)
{
    return (double)(dice_bits(d) >> 11) * 0x1p-53;
}

/* Below n, which is at least 1 and at most 2^32. */
static inline size_t
dice_below(struct dice *d, size_t n)
{
    return (size_t)(((dice_bits(d) >> 32) * (uint64_t)n) >> 32);
}

static inline double
dice_normal(struct dice *d)
{
    return num_normal_quantile(((double)(dice_bits(d) >> 12) + 0.5) * 0x1p-52);
}

#endif
