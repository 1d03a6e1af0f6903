/* SPDX-License-Identifier: MIT */
/* bands.h - what Hyperband and BOHB promise: brackets of rounds, whose sizes
 * and budgets follow from R and eta (Li et al. 2018, with NNI's rounding), and
 * whose best go on. */
#ifndef TESTS_SIM_BANDS_H
#define TESTS_SIM_BANDS_H

#include <stdint.h>

struct rules;

/* rules_arg of a game. */
struct bands {
    uint64_t least, most, eta; /* budgets; Hyperband: least = 1 */
};

/* Each bracket by itself.  Labels are BAND-S_ROUND_N, or S_ROUND_N. */
extern const struct rules rules_brackets;

/* And when brackets open: in order, and in parallel. */
extern const struct rules rules_hyperband_serial, rules_hyperband_parallel;

/* Labels are S_ROUND_N. */
extern const struct rules rules_bohb;

/* The sizes of a round, n trials of budget r, by whole numbers alone. */
void bands_round(const struct bands *b, unsigned s, unsigned round, uint64_t *n,
                 uint64_t *r);

/* s of the widest bracket. */
unsigned bands_widest(const struct bands *b);

#endif
