/* SPDX-License-Identifier: MIT */
/* keys_failure.h - the key onFailure.  Inside src/config only. */
#ifndef CONFIG_KEYS_FAILURE_H
#define CONFIG_KEYS_FAILURE_H

#include "config/reader.h"

#define FAILURE_BACKOFF_MS_DEFAULT 1000

extern const struct key failure_keys[]; /* of a struct on_failure */
extern const struct word repeated_words[];

key_set set_failure; /* struct on_failure *, by failure_keys */

#endif
