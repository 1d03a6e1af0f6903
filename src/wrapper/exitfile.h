/* SPDX-License-Identifier: MIT */
/* exitfile.h - the files that the wrapper writes: wrapper.pid and exit (see
 * trial/files.h). */
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
    int64_t began_ns;                  /* started_ns on CLOCK_MONOTONIC */
    struct confined memory;            /* of the trial's control group */
    bool abandoned; /* the trial was ended because no manager came */
    int told; /* the signal to the wrapper because of which the trial was ended;
                 0: none */
    bool alone; /* no manager was there when the trial ended */
};

/* Note the times of the trial's start, and of its end. */
void exitfile_begin(struct outcome *outcome);
void exitfile_end(struct outcome *outcome);

/* Writes wrapper.pid in the folder; 0, or -1 with errno set. */
int exitfile_write_pid(int dir_fd);

/* Makes the file that is to become `exit`, with room for its content, so that a
 * disk that is full by then does not matter.  Returns its descriptor, or -1
 * with errno set. */
int exitfile_prepare(int dir_fd);

/* Writes, syncs and renames `exit`, with the resources of all children that
 * were waited for; 0, or -1 with errno set: it may then be called again. */
int exitfile_write(int dir_fd, int exit_fd, const struct outcome *outcome);

/* Removes the wrapper's files: the trial did not begin. */
void exitfile_discard(int dir_fd);

#endif
