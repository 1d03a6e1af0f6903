/* SPDX-License-Identifier: MIT */
/* run.h - what the run of an experiment is given, and what comes of it. */
#ifndef MANAGER_RUN_H
#define MANAGER_RUN_H

#include <stdbool.h>

struct runner_ops;

enum manager_end {
    MANAGER_COMPLETE,    /* maxTrialNumber trials */
    MANAGER_EXHAUSTED,   /* nothing more to try */
    MANAGER_REACHED,     /* stopValue, or another goal: goals.h */
    MANAGER_DURATION,    /* maxExperimentDuration */
    MANAGER_INTERRUPTED, /* SIGINT, SIGTERM, SIGHUP */
    MANAGER_REFUSED,     /* the tuner failed to answer, for good */
    MANAGER_DISPATCHER,  /* the dispatcher ended by itself */
    MANAGER_UNABLE,      /* trials cannot be started, or the disk is full */
    MANAGER_FAILING,     /* trials keep failing the same way */
    MANAGER_CONFIG, /* the dispatcher refused what it is to do, and said why */
};

struct manager_options {
    const char *dispatcher;          /* program; NULL: this one */
    const struct runner_ops *runner; /* what runs trials; NULL: as
                                        trainingService.platform says */
    int out_fd, err_fd;              /* progress; what went wrong */
    const char *resume; /* absolute: the folder of an experiment that goes
                           on; NULL: a new one */
    bool retry_failed;  /* only to resume: trials that failed run again */
    const char *into;   /* absolute, an empty folder: becomes the experiment's;
                           NULL: a new one in the working folder */
    /* Of a study, which then ends when nobody has used it for a while: it can
     * be used.  NULL: it goes on until it is stopped. */
    void (*ready)(void *ctx);
    void *ready_ctx;
};

struct manager_outcome {
    enum manager_end end;
    bool ok;               /* it ended as meant, with a result */
    int dispatcher_status; /* exit status, -1: by a signal or unknown */
    bool initialized;      /* the dispatcher took tuner and space */
    char reason[256];      /* one line for people */
    char *
        folder; /* the experiment's; freed by the caller; NULL: there is none */
};

#endif
