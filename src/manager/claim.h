/* SPDX-License-Identifier: MIT */
/* claim.h - what one trial has been given of the machine, and the file in its
 * folder that tells a later manager so (trial/files.h, `resources`).  One
 * thread. */
#ifndef MANAGER_CLAIM_H
#define MANAGER_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct trial;

struct claim {
    bool held;        /* counted in struct resources */
    bool managed;     /* it is told which devices it has, none too */
    bool alone;       /* nobody shares its devices */
    uint64_t devices; /* a bit each */
    uint64_t memory, device_memory; /* reserved; bytes */
    uint64_t limit;                 /* it is kept to so much; 0: it is not */
    char cgroup[512];      /* the folder of the group that does; "": none */
    uint64_t kills_before; /* by the machine, for want of memory */

    uint64_t asked; /* the state of things when it was last asked for */
    struct trial *before, *next; /* of those that hold one */
};

int claim_write(const struct claim *c, const char *folder, struct err *err);

/* False: there is none. */
bool claim_read(struct claim *c, const char *folder);

/* "0,1", at most size bytes; returns out. */
const char *claim_devices(uint64_t devices, char *out, size_t size);

#endif
