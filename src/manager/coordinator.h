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

struct err;
struct manager;

/* More are asked for at once; with fewer no running trial is ended, and none
 * begun until so many have ended by themselves. */
int coordinator_resize(struct manager *m, uint64_t concurrency,
                       struct err *err);

/* No trial is begun or asked for any more; those that run do so to their ends.
 * Twice is as once. */
int coordinator_pause(struct manager *m, struct err *err);
int coordinator_continue(struct manager *m, struct err *err);

/* Instead of maxTrialNumber and maxExperimentDuration; 0: as it was. */
int coordinator_limit(struct manager *m, uint64_t max_trials, int64_t max_ms,
                      struct err *err);

/* What an earlier manager was told; before anything is asked for. */
int coordinator_restore(struct manager *m, struct err *err);

/* Counts an end, of any trial, for the goals: ctx is the manager. */
attempt_end_hear coordinator_hear_end;
/* Ends the experiment when a goal is reached: finish.h. */
void coordinator_judge(struct manager *m, int64_t now_ns);

#endif
