/* SPDX-License-Identifier: MIT */
/* deaths.h - what to do about a dispatcher that died: counting alone.  One
 * thread. */
#ifndef SUPERVISOR_DEATHS_H
#define SUPERVISOR_DEATHS_H

#include "log/lock.h"

#include <stdbool.h>
#include <stdint.h>

#define DEATHS_IN_VAIN_MAX 10

struct deaths {
    unsigned in_vain;               /* since its log last grew */
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

/* Whether a process that ended with this signal did wrong itself: SIGKILL, for
 * one, says nothing about what it was at. */
bool deaths_is_fault(int signal);

/* Whether it is over because it ended by itself with the same status, and
 * nobody at work, as the time before, and its log has not grown since: it
 * would do so again. */
bool deaths_repeat(struct deaths *d, int status,
                   const uint64_t at[LOCKFILE_SLOTS]);

/* Another death; `at` as in the lock file.  A command is to be skipped when
 * its worker alone was at work and it has died of it before, or when it has
 * twice before, whoever else was at work.  The first of all, the search space,
 * never is. */
enum deaths_verdict deaths_add(struct deaths *d, bool fault,
                               const uint64_t at[LOCKFILE_SLOTS], int *worker);

/* The log has grown. */
void deaths_progress(struct deaths *d);

#endif
