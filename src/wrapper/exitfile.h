/* SPDX-License-Identifier: MIT */
/* exitfile.h - the files by which the wrapper is known: wrapper.pid and exit
 * (see trial/files.h). */
#ifndef WRAPPER_EXITFILE_H
#define WRAPPER_EXITFILE_H

#include "wrapper/confine.h"

#include <stdbool.h>
#include <stdint.h>

#define EXITFILE_TEXT_MAX 512

struct outcome {
    char unstarted[EXITFILE_TEXT_MAX]; /* "" when the program was started */
    int unstarted_errno;               /* what errno was then */
    int wait_status;                   /* as wait4(2) gave it */
    int64_t started_ns, ended_ns;      /* see trial/files.h */
    int64_t began_ns;                  /* as started_ns, CLOCK_MONOTONIC */
    struct confined memory;            /* of its control group */
    bool abandoned;                    /* ended for want of a manager */
    int told;                          /* ended by this signal to us; 0: no */
    bool alone;                        /* it ended while nobody managed it */
};

/* The trial begins; it has ended. */
void exitfile_begin(struct outcome *outcome);
void exitfile_end(struct outcome *outcome);

/* Writes wrapper.pid in the folder; 0, or -1 with errno set. */
int exitfile_write_pid(int dir_fd);

/* Makes the file that is to become `exit`, with room for what it will hold, so
 * that a disk that is full then does not matter.  Its descriptor, or -1 with
 * errno set. */
int exitfile_prepare(int dir_fd);

/* Writes, syncs and renames it, with the resources of all children that were
 * waited for; 0, or -1 with errno set, and it may be called again. */
int exitfile_write(int dir_fd, int exit_fd, const struct outcome *outcome);

/* The trial did not begin: no trace of the wrapper is left. */
void exitfile_discard(int dir_fd);

#endif
