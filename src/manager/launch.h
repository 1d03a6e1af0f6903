/* SPDX-License-Identifier: MIT */
/* launch.h - begins a phase of a trial: makes its folder (trial/files.h), its
 * environment, and has a runner (runner/runner.h) start it there; or takes over
 * what an earlier manager began.  One thread. */
#ifndef MANAGER_LAUNCH_H
#define MANAGER_LAUNCH_H

#include "manager/environment.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct checkpoints;
struct err;
struct experiment;
struct json;
struct machines;
struct objectives;
struct runner;
struct runner_ops;
struct space;
struct trial;
struct trial_needs;

struct launch {
    struct runner *runner;
    unsigned descriptors; /* that each phase costs it */
    char *program_folder;
    char *python_folder;           /* of the Python package, or NULL */
    const char *experiment_folder; /* absolute; borrowed */
    const char *command;           /* a command_template.h; borrowed */
    const char *prepare_command;   /* the same; NULL: none */
    struct space *space; /* tells which numbers trials get as integers, and what
                            a command may name; owned; NULL: not known */
    struct checkpoints *checkpoints; /* borrowed */
    const char *cwd;                 /* absolute; borrowed */
    uint64_t seed;
    struct trial_needs *needs;           /* borrowed */
    bool minimize;                       /* the experiment's direction */
    const struct objectives *objectives; /* the values that results have;
                                            NULL: one number */
    bool lockstep;                       /* each intermediate report waits */
    /* Of the runner, set before it is opened: whether it had one before; says a
     * line to the user. */
    bool resumes;
    const struct machines *machines; /* borrowed */
    void (*say)(void *ctx, const char *line);
    void *ctx;
};

/* Opens a runner of this kind; -1: there cannot be one here, or it cannot what
 * the experiment wants.  Finds the Python package, without which trials lack
 * `import tunepipe` and nothing else.  The borrowed members are the caller's to
 * set. */
int launch_open(struct launch *l, const struct runner_ops *kind,
                const struct experiment *x, struct err *err);
void launch_close(struct launch *l);

/* Trials are programs, with a folder each; else there is one of those alone of
 * which something has to be noted. */
bool launch_has_programs(const struct launch *l);

/* The parameters as a trial gets them, to be freed. */
struct json *launch_parameters(const struct launch *l, const struct trial *t,
                               struct err *err);

/* Appends `command`, l->command or l->prepare_command, as /bin/sh -c gets it.
 */
int launch_command(const struct launch *l, const char *command,
                   struct jval parameters, struct buf *out, struct err *err);

/* Makes the folder with all its files and starts prepareCommand in a folder of
 * its own there; launch_trial() then starts the other one. */
int launch_prepare(const struct launch *l, struct trial *t, struct err *err);

/* Makes the folder with all its files, unless the trial was prepared there,
 * and starts trialCommand.  On success t->folder, t->run and the tails are set;
 * on failure the folder stays as far as it got. */
int launch_trial(const struct launch *l, struct trial *t, struct err *err);

/* Makes t->folder with all its files; the next function starts one of a
 * trial's two phases there, with this command and this environment. */
int launch_folder(const struct launch *l, struct trial *t, struct err *err);
int launch_again(const struct launch *l, struct trial *t,
                 const char *const command[], char *const env[], bool prepares,
                 struct err *err);

/* Takes over the phase that an earlier manager started, prepareCommand's or
 * trialCommand's: t->run.  False: it does not run, and cannot come up any
 * more. */
bool launch_adopt(const struct launch *l, struct trial *t, bool prepares);
/* Ends what is left of a phase that was lost while no manager lived. */
void launch_clear(const struct launch *l, const struct trial *t, bool prepares);

#endif
