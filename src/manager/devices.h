/* SPDX-License-Identifier: MIT */
/* devices.h - which trial gets which GPUs: those that few trials share first,
 * none that is full, or that others compute on.  One thread. */
#ifndef MANAGER_DEVICES_H
#define MANAGER_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEVICES_MAX 64

struct buf;
struct claim;
struct err;
struct nvml;
struct wishes;

struct device {
    unsigned trials;      /* that have it */
    bool alone;           /* one of them has it for itself */
    uint64_t reserved;    /* bytes */
    bool known;           /* it answered when it was last looked at; then: */
    uint64_t total, used; /* bytes of its memory */
    char model[96];
    pid_t foreign; /* a process of no trial that computes on it; 0: none */
};

struct devices {
    struct nvml *nvml; /* NULL: devices are not managed, or none is wanted */
    unsigned n;        /* how many there are */
    uint64_t usable;   /* those that trials may be given, a bit each */
    uint64_t labelled; /* those whose labels match trialLabels, a bit each */
    char host[256];    /* the name of the machine, which is a label as well */
    struct device of[DEVICES_MAX];
};

/* What one trial needs. */
struct devices_need {
    uint64_t count, memory; /* so many devices, so many bytes on each */
    bool alone;             /* that no other trial shares */
};

/* -1: there are not as many, or not so large, as the configuration wants. */
int devices_open(struct devices *d, const struct wishes *w, struct err *err);
void devices_close(struct devices *d);

/* Asks the driver about each device anew; `is_ours` tells a process of a trial
 * from a foreign one. */
void devices_look(struct devices *d, bool (*is_ours)(void *ctx, pid_t pid),
                  void *ctx);

/* Which devices to take, a bit each; 0: there are not enough now, and `why` is
 * appended to.  *foreign is set where a trial's end alone may not help: a
 * foreign process, or memory that it holds, is in the way. */
uint64_t devices_find(const struct devices *d, const struct wishes *w,
                      const struct devices_need *need, struct buf *why,
                      bool *foreign);

/* Counts what the trial with this claim has been given, until it is given back.
 */
void devices_take(struct devices *d, const struct claim *c);
void devices_give_back(struct devices *d, const struct claim *c);

#endif
