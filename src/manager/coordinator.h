/* SPDX-License-Identifier: MIT */
/* coordinator.h - what may be changed while an experiment runs: how many
 * trials at a time, whether any are begun, how far it goes; and when it has
 * got where it was to get.  What is changed is kept for whoever goes on.
 * -1: err says why, and nothing is changed.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_COORDINATOR_H
#define MANAGER_COORDINATOR_H

#include "manager/attempt_end.h"

#include <stdint.h>

struct budget;
struct err;
struct experiment_end;
struct experiment_folder;
struct failing;
struct goals;
struct launch;
struct placing;
struct progress;
struct publish;
struct scheduler;

struct coordinator {
    const struct experiment_folder *folder;
    struct budget *budget;
    struct goals *goals;
    struct scheduler *scheduler;
    const struct launch *launch;
    struct failing *failing;
    struct placing *placing;
    struct publish *publish;
    struct progress *progress;
    struct experiment_end *end;

    int64_t deadline_ns; /* of maxExperimentDuration; INT64_MAX: none */
};

/* More are asked for at once; with fewer no running trial is ended, and none
 * begun until so many have ended by themselves. */
int coordinator_resize(struct coordinator *c, uint64_t concurrency,
                       struct err *err);

/* No trial is begun or asked for any more; those that run do so to their ends.
 * Twice is as once. */
int coordinator_pause(struct coordinator *c, struct err *err);
int coordinator_continue(struct coordinator *c, struct err *err);

/* Instead of maxTrialNumber and maxExperimentDuration; 0: as it was. */
int coordinator_limit(struct coordinator *c, uint64_t max_trials,
                      int64_t max_ms, struct err *err);

/* What an earlier manager was told; before anything is asked for. */
int coordinator_restore(struct coordinator *c, struct err *err);

/* Of any trial, ctx being the coordinator: the end is counted for the goals,
 * and then the experiment judged by them. */
attempt_end_hear coordinator_count_end, coordinator_hear_end;
/* Ends the experiment when a goal is reached: goals.h. */
void coordinator_judge(struct coordinator *c, int64_t now_ns);

#endif
