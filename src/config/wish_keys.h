/* SPDX-License-Identifier: MIT */
/* wish_keys.h - how the keys for memory and devices are read (wishes.h), for
 * the table in keys.c.  Inside src/config only. */
#ifndef CONFIG_WISH_KEYS_H
#define CONFIG_WISH_KEYS_H

#include "config/reader.h"

struct wishes;

/* The target of each is the whole struct wishes. */
key_set wish_devices;       /* trialGpuNumber */
key_set wish_indices;       /* gpuIndices: 0, "0,1" or [0, 1] */
key_set wish_memory;        /* trialMemory: a size, or auto */
key_set wish_device_memory; /* trialGpuMemory */
key_set wish_headroom;      /* memoryHeadroom: 20% */
key_set wish_floor;         /* memoryFloor: a size, 0 too */
key_set wish_retries;       /* outOfMemoryRetry: 0 or more */
key_set wish_patterns;      /* outOfMemoryPatterns */

extern const struct word wish_limit_words[]; /* memoryLimit */

/* What the keys say together. */
void wishes_check(struct reader *r, const struct wishes *w);

#endif
