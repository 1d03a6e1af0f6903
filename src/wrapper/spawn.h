/* SPDX-License-Identifier: MIT */
/* spawn.h - starting the trial's first process. */
#ifndef WRAPPER_SPAWN_H
#define WRAPPER_SPAWN_H

#include <sys/types.h>

struct options;
struct outcome;

/* The trial's stdout and stderr, appended to; -1: errno was `why`. */
struct outputs {
    int dir_fd; /* borrowed */
    int fds[2], why[2];
};

/* Opens the two files: only ever files of this folder, not those to which a
 * link there leads. */
void outputs_open(struct outputs *o, int dir_fd);
/* Of each that is longer keeps so many bytes, the first and the last. */
void outputs_trim(const struct outputs *o, long long bytes);
/* Closes them, and removes what is empty: no process of the trial is left. */
void outputs_close(struct outputs *o);

/* Starts the trial in options->cwd, in a process group of its own, with stdin
 * /dev/null and these outputs, confined as the options say, with SIGKILL as its
 * fate when the wrapper dies.  Its process id; -1: outcome->unstarted tells
 * why. Call it from the main thread: its death is the one that counts. */
pid_t spawn_trial(const struct options *options, const struct outputs *outputs,
                  struct outcome *outcome);

#endif
