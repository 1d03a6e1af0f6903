/* SPDX-License-Identifier: MIT */
/* hookkey.h - the keys `on`, `hookConcurrency` and `hookTimeout`.  Inside
 * src/config only. */
#ifndef CONFIG_HOOKKEY_H
#define CONFIG_HOOKKEY_H

#include "config/reader.h"

key_set set_hooks;            /* of a struct draft */
key_set set_hook_concurrency; /* uint64_t *: 1 to HOOK_CONCURRENCY_MAX */

#endif
