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
    bool managed;     /* the trial is told which devices it has, or that it has
                         none */
    bool alone;       /* no other trial shares its devices */
    uint64_t devices; /* a bit each */
    uint64_t memory, device_memory; /* reserved; bytes */
    uint64_t limit;                 /* bytes that it is kept to; 0: it is not */
    char cgroup[512];      /* the folder of the control group that keeps it to
                              them; "": none does */
    uint64_t kills_before; /* machine_kills() when it was started */

    uint64_t asked;              /* resources' state when it was last refused */
    struct trial *before, *next; /* the other trials that were given anything */
};

/* Writes the file into the trial's folder. */
int claim_write(const struct claim *c, const char *folder, struct err *err);

/* Reads it back; false: there is no such file. */
bool claim_read(struct claim *c, const char *folder);

/* Writes the devices as "0,1", at most size bytes; returns out. */
const char *claim_devices(uint64_t devices, char *out, size_t size);

#endif
