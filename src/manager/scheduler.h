/* SPDX-License-Identifier: MIT */
/* scheduler.h - how many trials to ask the dispatcher for, and when there will
 * be no more: counting alone, no I/O, no clock.  One thread.
 *
 * Each unit of a request is answered by a trial, refused, or owed; so
 * started + owed never exceeds the greatest number of trials. */
#ifndef MANAGER_SCHEDULER_H
#define MANAGER_SCHEDULER_H

#include "manager/attempt_end.h"

#include <stdbool.h>
#include <stdint.h>

enum scheduler_end {
    SCHEDULER_GOING,
    SCHEDULER_COMPLETE,  /* maxTrialNumber trials have ended */
    SCHEDULER_EXHAUSTED, /* the tuner has nothing more to try */
    SCHEDULER_REFUSED,   /* the tuner failed several times in a row, and
                            nothing runs any more */
    SCHEDULER_CLOSED,    /* nothing was admitted any more */
};

struct scheduler {
    uint64_t concurrency; /* >= 1 */
    uint64_t ahead;       /* trials that are prepared while those run */
    uint64_t max_trials;  /* 0: no limit */
    uint64_t owed;        /* units asked for and not answered */
    uint64_t started;     /* trials taken on, whatever became of them */
    uint64_t live;        /* of these, those that have not ended */
    bool exhausted;       /* the tuner has nothing more to try */
    bool refused; /* a request failed; cleared when a trial ends, and when the
                     tuner is asked again */
    unsigned refusals; /* how often in a row, without a trial */
    bool paused;       /* the owner sets it: nothing is asked for */
    bool closed;       /* no trial is taken on any more */
};

/* How many to ask for now; the caller sends GE and then calls
 * scheduler_asked(). */
uint64_t scheduler_wants(const struct scheduler *s);
void scheduler_asked(struct scheduler *s, uint64_t n);

/* How many there may be at a time from now on: those that live, and those that
 * may come yet. */
uint64_t scheduler_most(const struct scheduler *s);

/* A trial has come; false: it is one too many and must not be started. */
bool scheduler_take(struct scheduler *s);
/* A trial has come again that was taken on before. */
void scheduler_repeated(struct scheduler *s);
/* So many units are owed, whatever was counted before. */
void scheduler_owes(struct scheduler *s, uint64_t units);
/* An earlier manager took on a trial; live: it has not ended. */
void scheduler_restored(struct scheduler *s, bool live);
void scheduler_ended(struct scheduler *s);
/* Of any trial: ctx is the scheduler. */
attempt_end_hear scheduler_hear_end;

/* The tuner has nothing more to try, or failed; `units` are no longer owed. */
void scheduler_exhausted(struct scheduler *s, uint64_t units);
void scheduler_refused(struct scheduler *s, uint64_t units);

/* The refusals so far were not the tuner's doing: they count no more. */
void scheduler_forget_refusals(struct scheduler *s);

/* Nothing is asked for any more, and what is owed is not waited for. */
void scheduler_close(struct scheduler *s);

enum scheduler_end scheduler_end(const struct scheduler *s);

#endif
