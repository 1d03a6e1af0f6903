/* SPDX-License-Identifier: MIT */
/* need.h - what a trial's next attempt needs: what the configuration says, or
 * what was learned, and more where attempts before had too little.  It follows
 * from their folders alone.  One thread. */
#ifndef MANAGER_NEED_H
#define MANAGER_NEED_H

#include "manager/devices.h"

#include <stdint.h>

struct resources;
struct trial;

struct need {
    uint64_t memory; /* bytes; 0: nothing is reserved */
    struct devices_need devices;
    uint64_t failed[2]; /* attempts that lacked memory, or a device's, in the
                           phase that t is in */
};

struct need need_of(const struct resources *r, const struct trial *t);

/* Adds what the attempts before t's tell. */
void need_add_past(struct need *need, const struct resources *r,
                   const struct trial *t);

#endif
