/* SPDX-License-Identifier: MIT */
/* population.h - what population based training promises: at most so many
 * trials at a time; in rounds, everybody's turn before anybody's next; folders
 * that nobody else writes to. */
#ifndef TESTS_SIM_POPULATION_H
#define TESTS_SIM_POPULATION_H

#include <stddef.h>

struct rules;

/* rules_arg of a game. */
struct population {
    size_t size;
};

extern const struct rules rules_pbt_rounds, rules_pbt_async;

#endif
