/* SPDX-License-Identifier: MIT */
/* dice.h - what happens by chance in a simulated experiment: splitmix64
 * (Steele, Lea, Flood 2014), so that a seed names an experiment for good. */
#ifndef TESTS_SIM_DICE_H
#define TESTS_SIM_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t
dice_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t
dice_bits(struct dice *d)
{
    return dice_mix(d->state += 0x9E3779B97F4A7C15u);
}

/* In [0, 1). */
static inline double
dice_unit(struct dice *d)
{
    return (double)(dice_bits(d) >> 11) * 0x1p-53;
}

static inline bool
dice_chance(struct dice *d, double p)
{
    return dice_unit(d) < p;
}

/* In 0..n-1; n > 0. */
static inline uint64_t
dice_below(struct dice *d, uint64_t n)
{
    return (uint64_t)(dice_unit(d) * (double)n);
}

#endif
