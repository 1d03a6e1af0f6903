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

/* Writes, syncs and renames `exit`, with the resources of all children that
 * were waited for; 0, or -1 with errno set. */
int exitfile_write(int dir_fd, const struct outcome *outcome);

#endif
