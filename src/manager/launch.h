/* SPDX-License-Identifier: MIT */
/* launch.h - makes a trial's folder (trial/files.h) and starts its wrapper.
 * One thread. */
#ifndef MANAGER_LAUNCH_H
#define MANAGER_LAUNCH_H

#include "manager/environment.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct checkpoints;
struct err;
struct trial;

struct launch {
    char *wrapper; /* the wrapper's path */
    char *program_folder;
    char *python_folder;             /* of tunepipe.py; NULL: not found */
    const char *experiment_folder;   /* absolute; borrowed */
    const char *command;             /* for /bin/sh -c; borrowed */
    const char *prepare_command;     /* the same; NULL: none */
    struct checkpoints *checkpoints; /* borrowed */
    const char *cwd;                 /* absolute; borrowed */
    int64_t grace_ms;
    uint64_t seed;
    bool wants_output; /* open the tail of stdout, too */
    bool minimize;     /* the experiment's direction */
    bool lockstep;     /* each intermediate report waits */
};

/* Finds the wrapper; -1 names where it was looked for.  Finds tunepipe.py,
 * without which trials in Python lack `import tunepipe` and nothing else.  The
 * borrowed members are the caller's to set. */
int launch_open(struct launch *l, struct err *err);
void launch_close(struct launch *l);

/* Makes the folder with all its files and starts the wrapper of prepareCommand
 * in a folder of its own there; launch_trial() then starts the other one. */
int launch_prepare(const struct launch *l, struct trial *t, struct err *err);

/* Makes the folder with all its files, unless the trial was prepared there,
 * and starts the wrapper.  On success
 * t->folder, pid, pidfd, lease_fd and the tails are set; on failure the folder
 * stays as far as it got. */
int launch_trial(const struct launch *l, struct trial *t, struct err *err);

/* Makes t->folder with all its files; the next function starts one of a
 * trial's two phases there, with this command and this environment. */
int launch_folder(const struct launch *l, struct trial *t, struct err *err);
int launch_again(const struct launch *l, struct trial *t,
                 const char *const command[], char *const env[], bool prepares,
                 struct err *err);

#endif
