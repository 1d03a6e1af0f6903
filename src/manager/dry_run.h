/* SPDX-License-Identifier: MIT */
/* dry_run.h - the first parameters of an experiment, asked of a dispatcher as a
 * run would ask for them, with no trial started and nothing written.  One
 * thread, which waits. */
#ifndef MANAGER_DRY_RUN_H
#define MANAGER_DRY_RUN_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct experiment;

struct dry_run {
    const struct experiment *x;
    uint64_t seed;
    const char *dispatcher; /* program; NULL: this one */
    uint64_t wanted;        /* sets of parameters */
    /* Set by dry_run(): how many of the sets that came a run is sure to get,
     * too; for those after them a run asks when it has results. */
    uint64_t sure;
    char *plan;        /* how the runner would start trials, to be freed; NULL:
                          as they stand */
    const char *ended; /* why fewer came than were wanted; NULL: all came */
};

struct dry_run_trial {
    const char *id;           /* trial_job_id */
    const char *parameter_id; /* JSON */
    const char *parameters;   /* JSON, one line, as the trial gets them */
    const char *prepare;      /* prepareCommand with its values; NULL: none */
    const char *command;      /* trialCommand with its values */
    const char *const *vars;  /* "NAME=VALUE" of the trial's own variables, but
                                 those of its folders; ends with NULL */
};

/* What is told is valid during the call. */
struct dry_run_listener {
    int (*take)(void *ctx, const struct dry_run_trial *trial, struct err *err);
    /* A line of the dispatcher's standard error. */
    void (*word)(void *ctx, const char *line, size_t len);
    void *ctx;
};

/* -1: the dispatcher could not be started, gave nothing, or broke off. */
int dry_run(struct dry_run *r, const struct dry_run_listener *to,
            struct err *err);

#endif
