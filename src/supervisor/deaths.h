/* SPDX-License-Identifier: MIT */
/* deaths.h - counts the deaths of a dispatcher, and decides what to do about
 * one.  One thread. */
#ifndef SUPERVISOR_DEATHS_H
#define SUPERVISOR_DEATHS_H

#include "log/lock.h"

#include <stdbool.h>
#include <stdint.h>

#define DEATHS_IN_VAIN_MAX 10

struct deaths {
    unsigned in_vain;               /* deaths since its log grew last */
    int status;                     /* of the last exit that nobody at work
                                       can be blamed for */
    uint64_t at[LOCKFILE_SLOTS];    /* the command each worker was at when the
                                       process last died of a fault; 0: none */
    unsigned times[LOCKFILE_SLOTS]; /* how often it died so at that command */
};

enum deaths_verdict {
    DEATHS_RESTART,
    DEATHS_SKIP, /* restart, and leave out the command *worker was at */
    DEATHS_OVER,
};

/* Whether a process that this signal has ended is to blame: SIGKILL, for one,
 * says nothing about what it was doing. */
bool deaths_is_fault(int signal);

/* Whether to give up: the process ended by itself with the same status as the
 * time before, no worker was at a command, and its log has not grown since: it
 * would do so again. */
bool deaths_repeat(struct deaths *d, int status,
                   const uint64_t at[LOCKFILE_SLOTS]);

/* Counts another death; `at` as in the lock file.  A command is to be skipped
 * when its worker alone was at work and has died of it before, or when it has
 * died of it twice before, whoever else was at work.  The first command of all,
 * the search space, never is. */
enum deaths_verdict deaths_add(struct deaths *d, bool fault,
                               const uint64_t at[LOCKFILE_SLOTS], int *worker);

/* Notes that the log has grown. */
void deaths_progress(struct deaths *d);

#endif
