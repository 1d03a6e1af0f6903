/* SPDX-License-Identifier: MIT */
/* ending.h - the end of a trial, told to the dispatcher, recorded, and shown to
 * people, with the last lines of the first failure's standard error.  Inside
 * src/manager only. */
#ifndef MANAGER_ENDING_H
#define MANAGER_ENDING_H

#include "core/map.h"
#include "manager/deadlines.h"
#include "manager/syncing.h"
#include "manager/trial.h"
#include "manager/attempt_end.h"

#include <stdbool.h>

struct delivery;
struct exchange;
struct experiment_end;
struct experiment_folder;
struct live;
struct progress;
struct publish;
struct result;

struct ending {
    struct experiment_folder *folder;
    struct exchange *exchange;
    struct delivery *delivery;
    struct publish *publish;
    struct progress *progress;
    const struct live *live;
    struct deadlines *deadlines;
    struct experiment_end *end;
    bool has_pattern; /* metrics.pattern */
    bool has_assessor;
    bool brief; /* of those that end well nothing is said: whoever asked for one
                   knows */

    uint64_t n_results; /* trials with a final result that did not fail */
    struct syncing syncing;
    struct deadline due; /* what is held of the results is tried again */
    bool holds;          /* some are, and that was told */
    struct map shown;    /* the failures whose last lines were: ending_how() */
};

/* They hear of ends, ctx being the ending.  EN is sent, the result written (or
 * held, while the disk has no room), the end counted and shown. */
attempt_end_hear ending_send, ending_record, ending_show;

/* Counts an end that has been shown before; whether it is a new best one. */
bool ending_count(struct ending *e, const struct result *r, const char *id);

/* How it failed: its exit status or signal, why, and the last line of its
 * standard error, without the numbers in these two.  Failures are alike where
 * all are. */
#define ENDING_HOW_MAX 1024
void ending_how(const struct trial *t, char text[ENDING_HOW_MAX]);
/* The last lines of its standard error; unless those of a failure like it were
 * shown. */
void ending_show_stderr(struct ending *e, const struct trial *t);
void ending_show_failure(struct ending *e, const struct trial *t);

/* Whether the trial was tried: it neither failed nor was ended by the user. */
bool ending_counts(enum trial_state state);

#endif
