/* SPDX-License-Identifier: MIT */
/* wishes.h - what a trial needs of the machine, as the configuration says.
 * Immutable once read, as the struct experiment that holds it. */
#ifndef CONFIG_WISHES_H
#define CONFIG_WISHES_H

#include "config/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WISHES_DEVICES_MAX 64
#define WISHES_PATTERNS_MAX 16

enum memory_limit { LIMIT_AUTO, LIMIT_CGROUP, LIMIT_RLIMIT, LIMIT_NONE };

struct wishes {
    bool devices_managed;     /* trialGpuNumber is given */
    uint64_t devices;         /* of each trial; 0: it is to see none */
    uint64_t trials_a_device; /* maxTrialNumberPerGpu */
    bool use_active;  /* devices that others compute on may be used, too */
    uint64_t indices; /* gpuIndices, a bit each; 0: all devices */
    /* Those that are asked for, and those that there are. */
    struct labels labels;

    uint64_t memory, device_memory; /* bytes; 0: not reserved */
    bool memory_auto;               /* `memory` is learned from peaks */
    uint64_t headroom_percent;      /* of each memory, left free */
    uint64_t floor;                 /* left free of the machine's memory */
    int limit;                      /* enum memory_limit */

    uint64_t retries; /* per phase, for a trial that ended for want of memory */
    char *patterns[WISHES_PATTERNS_MAX]; /* checked extended regular
                                            expressions */
    size_t n_patterns;
    unsigned devices_line, memory_line, device_memory_line, indices_line;
};

/* The values where no key says otherwise. */
#define WISHES_DEFAULT                                \
    {                                                 \
        .trials_a_device = 1, .headroom_percent = 20, \
        .floor = (uint64_t)512 << 20, .retries = 3    \
    }

/* Whether memory of the machine is reserved. */
bool wishes_reserve(const struct wishes *w);
void wishes_fini(struct wishes *w);

#endif
