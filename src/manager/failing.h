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
#include "manager/ending.h"

#include <stdbool.h>

struct attempts;
struct budget;
struct dues;
struct ending;
struct experiment;
struct experiment_end;
struct experiment_folder;
struct live;
struct machines;
struct progress;
struct publish;
struct reading;
struct scheduler;

#define FAILING_TEXT_MAX 1024

struct failing {
    const struct experiment *x;
    const struct experiment_folder *folder;
    struct attempts *attempts;
    const struct live *live;
    struct scheduler *scheduler;
    struct budget *budget;
    const struct dues *dues;
    struct reading *reading;
    struct ending *ending;
    const struct machines *machines;
    struct publish *publish;
    struct progress *progress;
    struct experiment_end *end;

    char last[ENDING_HOW_MAX];     /* how the last one failed */
    unsigned same;                 /* so many in a row did */
    char paused[FAILING_TEXT_MAX]; /* why the experiment was paused; "": not */
};

/* It has ended in `state` and nobody was told.  Whether it is tried again: then
 * t is freed, and a new attempt waits in its place. */
bool failing_again(struct failing *f, struct trial *t, enum trial_state state,
                   double seconds);

/* Of one of an earlier manager: how often it had failed, this attempt included
 * where that is not `judged` any more. */
void failing_found(struct trial *t, const char *experiment_folder, bool judged);

/* They hear of ends, ctx being the failing: before its EN, what the tuner is to
 * take for the trial's result; when that was shown, whether it fails like those
 * before, which may halt the experiment. */
attempt_end_hear failing_report_value, failing_count;

/* Why no trials are begun, in words; "" where they are.  Until the next call
 * that changes that. */
const char *failing_why_paused(const struct failing *f);

/* The pause is over. */
void failing_continued(struct failing *f);

#endif
