/* SPDX-License-Identifier: MIT */
/* exitfile.h - the files that the wrapper writes: wrapper.pid and exit (see
 * trial/files.h). */
#ifndef WRAPPER_EXITFILE_H
#define WRAPPER_EXITFILE_H

#include "wrapper/confine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options;

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

/* The file that is wrapper.pid while the trial runs and becomes exit. */
struct exitfile {
    int dir_fd, fd;           /* of the trial's folder, borrowed; of the file */
    const char *node;         /* borrowed; NULL: not told */
    unsigned long long start; /* of this process */
    char *command;            /* what stands behind the text, a NUL first */
    size_t command_len;
};

/* Makes, from a zeroed one, wrapper.pid, a new file, with room for what is to
 * be written at the end, so that a disk that is full by then does not matter.
 * 0, or -1 with errno set: EEXIST, there is one. */
int exitfile_make(struct exitfile *f, int dir_fd,
                  const struct options *options);

/* Writes how the trial ended, with the resources of all children that were
 * waited for, and renames the file; `synced`: all that the trial reported and
 * this are on stable storage before.  0, or -1 with errno set: it may then be
 * called again. */
int exitfile_write(struct exitfile *f, const struct outcome *outcome,
                   bool synced);

void exitfile_close(struct exitfile *f);
/* Removes the file: the trial did not begin. */
void exitfile_discard(struct exitfile *f);

#endif
