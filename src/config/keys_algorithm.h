/* SPDX-License-Identifier: MIT */
/* keys_algorithm.h - the keys tuner, assessor, filters and constraints.  Inside
 * src/config only. */
#ifndef CONFIG_KEYS_ALGORITHM_H
#define CONFIG_KEYS_ALGORITHM_H

#include "config/reader.h"

extern const struct key algorithm_keys[]; /* of a struct algorithm */
extern const struct key filter_keys[];    /* the same */

key_set set_algorithm; /* struct algorithm *, by algorithm_keys */
/* struct draft *: a list of maps by filter_keys, or, without arguments, of
 * names. */
key_set set_filters;
/* struct draft *: a list of texts, which the filter `constraints` gets as
 * one. */
key_set set_constraints;

#endif
