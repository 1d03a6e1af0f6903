/* SPDX-License-Identifier: MIT */
/* machine.h - the memory of this machine, or of the control group that the
 * manager is in, where that has less.  One thread. */
#ifndef MANAGER_MACHINE_H
#define MANAGER_MACHINE_H

#include <stdint.h>

struct err;

/* Names a file in the format of /proc/meminfo to be read in its place, and
 * then no control group is looked at. */
#define MACHINE_ENV "TUNEPIPE_MEMINFO"

struct machine {
    uint64_t total, available; /* bytes */
};

int machine_look(struct machine *out, struct err *err);

/* How many processes the kernel has ended so far for want of memory; 0 where
 * it does not tell. */
uint64_t machine_kills(void);

#endif
