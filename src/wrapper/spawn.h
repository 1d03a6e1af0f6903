/* SPDX-License-Identifier: MIT */
/* spawn.h - starting the trial's first process. */
#ifndef WRAPPER_SPAWN_H
#define WRAPPER_SPAWN_H

#include <sys/types.h>

struct options;
struct outcome;

/* Opens a file of the trial's output for appending; only ever a file of this
 * folder, not one to which a link there leads.  -1 with errno set. */
int spawn_output(int dir_fd, const char *name);

/* Starts it in options->cwd, in a process group of its own, stdin /dev/null,
 * stdout and stderr appended to the files in the folder, confined as the
 * options say, with SIGKILL as its fate when the wrapper dies.  Its process
 * id; -1: outcome->unstarted tells why.  Call it from the main thread: its
 * death is the one that counts. */
pid_t spawn_trial(const struct options *options, int dir_fd,
                  struct outcome *outcome);

#endif
