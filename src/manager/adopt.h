/* SPDX-License-Identifier: MIT */
/* adopt.h - a trial that another manager started: what its folder tells
 * (trial/files.h), and its wrapper, if that still lives.  One thread. */
#ifndef MANAGER_ADOPT_H
#define MANAGER_ADOPT_H

#include <stdbool.h>

struct trial;

/* Opens the files of t->folder to be read from the start, and takes the stop
 * that is recorded there.  Missing ones are left out. */
void adopt_files(struct trial *t, bool wants_output);
/* The latter alone. */
void adopt_stop(struct trial *t);

/* What a lease becomes that nobody held. */
#define ADOPT_LEASE_OLD "lease.old"

/* Takes the lease in the folder, the trial's or that of its preparation;
 * t->pid, pidfd, lease_fd and started_ns are then set. False: the wrapper is
 * gone, and cannot come up any more. */
bool adopt_wrapper(struct trial *t, const char *folder);

/* Removes the folder of a trial that was never started. */
void adopt_discard(const char *folder);

#endif
