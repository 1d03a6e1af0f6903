/* SPDX-License-Identifier: MIT */
/* confine.h - the trial's memory: what keeps it to it, and what it used. */
#ifndef WRAPPER_CONFINE_H
#define WRAPPER_CONFINE_H

#include <stdbool.h>

struct confined {
    bool known;
    unsigned long long peak, kills; /* see trial/files.h, `exit` */
};

/* The calling process goes into the control group, all it starts with it.
 * NULL: nothing to do.  -1 with errno set. */
int confine_enter(const char *cgroup);

/* RLIMIT_DATA; 0: nothing to do. */
int confine_limit(long long bytes);

/* Nobody is in it any more: what was used, and the group is removed. */
struct confined confine_leave(const char *cgroup);

#endif
