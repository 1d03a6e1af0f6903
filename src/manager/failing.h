/* SPDX-License-Identifier: MIT */
/* failing.h - what becomes of a trial that failed, was short of memory or is
 * lost: it is tried again, or the tuner is told of it, and when trials keep
 * failing the same way the experiment is halted.  What stopped a trial (the
 * assessor, a limit of time, the user) makes it no failure.
 *
 * A trial that is tried again keeps its number, its parameters and its place:
 * none is asked for in its stead.  How often it has failed stands in its
 * folders (TRIAL_AGAIN), so that another manager goes on counting, and waits
 * only for what is left of the pause.  Inside src/manager only; one thread. */
#ifndef MANAGER_FAILING_H
#define MANAGER_FAILING_H

#include "manager/trial.h"
#include "manager/attempt_end.h"

#include <stdbool.h>

struct manager;

/* It has ended in `state` and nobody was told.  Whether it is tried again: then
 * t is freed, and a new attempt waits in its place. */
bool failing_again(struct manager *m, struct trial *t, enum trial_state state,
                   double seconds);

/* Of one found in its folder: how often it had failed. */
void failing_found(struct trial *t, const char *experiment_folder);

/* They hear of ends, ctx being the manager: before its EN, what the tuner is to
 * take for the trial's result; when that was shown, whether it fails like those
 * before, which may halt the experiment. */
attempt_end_hear failing_report_value, failing_count;

/* Why no trials are begun, in words; "" where they are.  Until the next call
 * that changes that. */
const char *failing_why_paused(const struct manager *m);

/* The pause is over. */
void failing_continued(struct manager *m);

#endif
