/* SPDX-License-Identifier: MIT */
/* machine.h - what this machine has and allows: its memory, or that of the
 * control group that the manager is in, where that has less; processes that the
 * kernel has ended for want of memory; how many files may be open.  One thread.
 */
#ifndef MANAGER_MACHINE_H
#define MANAGER_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Names a file in the format of /proc/meminfo to be read in its place, and
 * then no control group is looked at. */
#define MACHINE_ENV "TUNEPIPE_MEMINFO"

struct machine {
    uint64_t total, available; /* bytes */
};

/* Reads how much memory there is in all, and how much is available now. */
int machine_look(struct machine *out, struct err *err);

/* How many processes the kernel has ended so far for want of memory; 0 where
 * it does not tell. */
uint64_t machine_kills(void);

/* Raises the limit of open files to what so many trials at a time need, each of
 * which costs its runner `runner` files, and no further, since children inherit
 * it.  -1: the system does not allow so many. */
int machine_allow_files(uint64_t trials, unsigned runner, struct err *err);

/* Raises it to what so many clients of a study need, or as far as the system
 * allows: for how many that is, CONTROL_CLIENTS_MAX at least. */
size_t machine_allow_clients(size_t clients);

#endif
