/* SPDX-License-Identifier: MIT */
/* dry_run.h - the first parameters of an experiment, asked of a dispatcher
 * as a run would ask, with nothing started and nothing written.  One thread,
 * which waits. */
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
    /* Filled: how many of those that came a run is sure to get, too; what was
     * asked for behind these a run asks for when it has results. */
    uint64_t sure;
    const char *ended; /* why fewer than wanted came; NULL: they came */
};

struct dry_run_trial {
    const char *id;           /* trial_job_id */
    const char *parameter_id; /* JSON */
    const char *parameters;   /* JSON, one line */
    const char *const *vars;  /* "NAME=VALUE" of what is the trial's own, but
                                 its folders; ends with NULL */
};

/* All that it shows is valid during the call. */
struct dry_run_listener {
    int (*take)(void *ctx, const struct dry_run_trial *trial, struct err *err);
    void (*word)(void *ctx, const char *line, size_t len); /* of the
                                                              dispatcher */
    void *ctx;
};

/* -1: the dispatcher could not be started, gave nothing, or broke off. */
int dry_run(struct dry_run *r, const struct dry_run_listener *to,
            struct err *err);

#endif
