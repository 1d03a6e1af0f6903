/* SPDX-License-Identifier: MIT */
/* spawn.h - starting the trial's first process. */
#ifndef WRAPPER_SPAWN_H
#define WRAPPER_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

struct options;

struct spawn {
    pid_t pid;
    int failure_fd; /* what the child could not do; closed by its exec */
};

/* A file of the trial's output, to be appended to; only ever a file of this
 * folder, not what a link there names.  -1 with errno set. */
int spawn_output(int dir_fd, const char *name);

/* Starts it in options->cwd, in a process group of its own, stdin /dev/null,
 * stdout and stderr appended to the files in the folder, default signal
 * dispositions, empty mask, and SIGKILL as its fate when the wrapper dies.
 * 0, or -1 with errno set when no process could be made.  Call it from the
 * main thread: its death is the one that counts. */
int spawn_start(struct spawn *spawn, const struct options *options, int dir_fd);

/* To be called once, after the process was waited for: what errno was, with one
 * line in `out`, when it ended before it became the program; else 0. */
int spawn_failed(struct spawn *spawn, char *out, size_t size);

#endif
