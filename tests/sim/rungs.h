/* SPDX-License-Identifier: MIT */
/* rungs.h - what asynchronous successive halving promises (Li et al. 2020,
 * algorithm 2): one ladder of rungs, at which who is in the best 1/eta of those
 * that have been there goes on, and nobody waits. */
#ifndef TESTS_SIM_RUNGS_H
#define TESTS_SIM_RUNGS_H

#include <stdint.h>

struct rules;

/* rules_arg of a game. */
struct rungs {
    uint64_t least, most, eta;
};

/* One bracket. */
extern const struct rules rules_asha_stopping, rules_asha_promotion;

/* Several brackets, and so many configurations: what all advisors promise. */
extern const struct rules rules_asha, rules_asha_configurations;

#endif
