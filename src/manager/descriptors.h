/* SPDX-License-Identifier: MIT */
/* descriptors.h - the limit of open files, raised no further than the trials
 * that run at a time need: children inherit it.  One thread. */
#ifndef MANAGER_DESCRIPTORS_H
#define MANAGER_DESCRIPTORS_H

#include <stdint.h>

struct err;

/* For so many trials at a time, of which each costs its runner so many.  -1:
 * the system allows not that many. */
int descriptors_allow(uint64_t trials, unsigned runner, struct err *err);

#endif
