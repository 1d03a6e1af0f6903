/* SPDX-License-Identifier: MIT */
/* random.h - random numbers as a function of what they are for.
 *
 * There is no generator to carry about and no order of calls: a number is
 * named by (seed, purpose, a, b, draw) and is the same whenever, wherever and
 * in whichever thread it is asked for.  What a and b mean is the purpose's
 * own business (a parameter id and a dimension, say); draws are counted from
 * 0 by the caller.
 *
 * A stored promise: command logs replay only if the same seed gives the same
 * bytes on every machine for ever.  So what follows never changes; a new
 * scheme gets new purposes.
 *
 *     key      words 0 and 1 of philox(counter (seed low, seed high, purpose,
 *              0), key (0x74756e65, 0x70697065))
 *     block    philox(counter (a low, a high, b, draw), key)
 *     bits     word 1 * 2^32 + word 0 of the block; words 2 and 3 are unused
 *     uniform  (bits >> 11) * 2^-53
 *     open     ((bits >> 12) + 0.5) * 2^-52; one bit less than uniform has,
 *              because k + 0.5 with a 53-bit k is not a double and would
 *              round up to 1
 *     below n  the high half of bits * n, unless the low half is below
 *              2^64 mod n: then again with the next draw (D. Lemire, "Fast
 *              random integer generation in an interval", ACM TOMACS 29,
 *              2019)
 *     normal   num_normal_quantile(open)
 *
 * Any thread, nothing fails. */
#ifndef NUMERICS_RANDOM_H
#define NUMERICS_RANDOM_H

#include <stdint.h>

/* Stored: numbers are never given to another purpose. */
enum random_purpose {
    RANDOM_PRIOR = 1, /* sampling from the priors of a search space */
    RANDOM_TUNER = 2,
    RANDOM_ASSESSOR = 3,
    RANDOM_FILTER = 4,
    RANDOM_TRIAL = 5, /* the seed a trial is given; a: its parameters */
    RANDOM_SOBOL = 6, /* the key of sobol.h's coins; a, b: 0 */
    RANDOM_TEST = 100
};

/* Held by value; members are random.c's. */
struct random_stream {
    uint32_t key[2];
    uint32_t counter[3];
};

struct random_stream random_stream(uint64_t seed, uint32_t purpose, uint64_t a,
                                   uint32_t b);

/* The one with the seed and the purpose of s and these: half the work. */
struct random_stream random_sibling(const struct random_stream *s, uint64_t a,
                                    uint32_t b);

/* 64 uniform bits. */
uint64_t random_bits(const struct random_stream *s, uint32_t draw);

/* In [0, 1), a multiple of 2^-53. */
double random_uniform(const struct random_stream *s, uint32_t draw);

/* In (0, 1), symmetric about 1/2, from 2^-53 to 1 - 2^-53. */
double random_open(const struct random_stream *s, uint32_t draw);

/* In [0, n), every value equally likely; n >= 1.  Uses the draws from *draw
 * on, nearly always one, and leaves *draw at the first unused. */
uint64_t random_below(const struct random_stream *s, uint32_t *draw,
                      uint64_t n);

/* Standard normal, within +-8.21. */
double random_normal(const struct random_stream *s, uint32_t draw);

#endif
