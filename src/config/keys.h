/* SPDX-License-Identifier: MIT */
/* keys.h - the one table of all keys a configuration may have: NNI's v2 and
 * ours, with their types and whether they have an effect.
 *
 * A new one: its row, its member in experiment.h, its sentence in docs.c, its
 * lines in run's --help and in man/tunepipe-experiment.5; tests say which of
 * them is missing. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include "config/reader.h"

/* The top level, its offsets in struct draft; ends with a NULL name. */
extern const struct key config_keys[];

#endif
