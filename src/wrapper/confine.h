/* SPDX-License-Identifier: MIT */
/* confine.h - limits a trial's memory, and measures it. */
#ifndef WRAPPER_CONFINE_H
#define WRAPPER_CONFINE_H

#include <stdbool.h>

struct confined {
    bool known;
    unsigned long long peak, kills; /* see trial/files.h, `exit` */
};

/* Puts the calling process, and all that it will start, into the control group.
 * NULL: does nothing.  -1 with errno set. */
int confine_enter(const char *cgroup);

/* Sets RLIMIT_DATA; 0: does nothing. */
int confine_limit(long long bytes);

/* When no process is left in it: removes the control group, and says how much
 * memory was used. */
struct confined confine_leave(const char *cgroup);

#endif
