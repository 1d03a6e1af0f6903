/* SPDX-License-Identifier: MIT */
/* devices.h - which trial gets which GPUs: those that few trials share first,
 * none that is full, or that others compute on.  One thread. */
#ifndef MANAGER_DEVICES_H
#define MANAGER_DEVICES_H

#include "manager/nvml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICES_MAX 64

struct buf;
struct claim;
struct err;
struct wishes;

struct device {
    unsigned trials;   /* that have it */
    bool alone;        /* one of them has it for itself */
    uint64_t reserved; /* bytes */
    bool known;        /* at the last look: */
    uint64_t total, used;
    char model[96];
    pid_t stranger; /* that computes on it; 0: none */
};

struct devices {
    struct nvml *nvml; /* NULL: devices are not managed, or none is wanted */
    unsigned n;        /* there are */
    uint64_t usable;   /* of these, a bit each */
    uint64_t labelled; /* as trialLabels asks */
    char host[256];    /* the name of the machine, a label as well */
    struct device of[DEVICES_MAX];
};

/* How many, how much memory on each, and whether with nobody else. */
struct devices_need {
    uint64_t count, memory;
    bool alone;
};

/* -1: there are not as many, or not so large, as the configuration wants. */
int devices_open(struct devices *d, const struct wishes *w, struct err *err);
void devices_close(struct devices *d);

/* Looks at them anew; `is_ours` tells a trial's process from a stranger's. */
void devices_look(struct devices *d, bool (*is_ours)(void *ctx, pid_t pid),
                  void *ctx);

/* Which ones to take; 0: not now, and `why` is appended to.  *strangers: what
 * is waited for is not a trial's end alone. */
uint64_t devices_find(const struct devices *d, const struct wishes *w,
                      const struct devices_need *need, struct buf *why,
                      bool *strangers);

void devices_take(struct devices *d, const struct claim *c);
void devices_give_back(struct devices *d, const struct claim *c);

#endif
