/* SPDX-License-Identifier: MIT */
/* manager.h - runs one experiment from beginning to end: one dispatcher, many
 * trials, one thread, one loop. */
#ifndef MANAGER_MANAGER_H
#define MANAGER_MANAGER_H

#include <stdbool.h>

struct err;
struct experiment;

enum manager_end {
    MANAGER_COMPLETE,    /* maxTrialNumber trials */
    MANAGER_EXHAUSTED,   /* nothing more to try */
    MANAGER_REACHED,     /* stopValue, or another goal: finish.h */
    MANAGER_DURATION,    /* maxExperimentDuration */
    MANAGER_INTERRUPTED, /* SIGINT, SIGTERM, SIGHUP */
    MANAGER_REFUSED,     /* the tuner failed to answer, for good */
    MANAGER_DISPATCHER,  /* the dispatcher ended by itself */
    MANAGER_UNABLE,      /* trials cannot be started, or the disk is full */
    MANAGER_FAILING,     /* trials keep failing the same way */
};

struct manager_options {
    const char *dispatcher; /* program; NULL: this one */
    int out_fd, err_fd;     /* progress; what went wrong */
    const char *resume;     /* absolute: the folder of an experiment that goes
                               on; NULL: a new one */
    bool retry_failed;      /* only to resume: trials that failed run again */
};

struct manager_outcome {
    enum manager_end end;
    bool ok;               /* it ended as meant, with a result */
    int dispatcher_status; /* exit status, -1: by a signal or unknown */
    bool initialized;      /* the dispatcher took tuner and space */
    char reason[256];      /* one line for people */
    char *folder;          /* the experiment's; freed by the caller */
};

/* Blocks the stop signals and ignores SIGPIPE, for good.  -1 when
 * it could not begin; else *out tells what came of it. */
int manager_run(const struct experiment *x,
                const struct manager_options *options,
                struct manager_outcome *out, struct err *err);

#endif
