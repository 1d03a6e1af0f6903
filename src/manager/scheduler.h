/* SPDX-License-Identifier: MIT */
/* scheduler.h - how many trials to ask for, and when it is over: counting
 * alone, no I/O, no clock.  One thread.
 *
 * Each unit of a request is answered by a trial, refused, or owed; so at any
 * time started + owed never exceeds the greatest number of trials. */
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
    uint64_t ahead;       /* trials besides, which are prepared meanwhile */
    uint64_t max_trials;  /* 0: no limit */
    uint64_t owed;        /* units asked for and not answered */
    uint64_t started;     /* trials taken on, whatever became of them */
    uint64_t live;        /* of these, those that have not ended */
    bool exhausted;
    bool refused; /* a request failed; cleared when a trial ends, and when it
                     is asked again */
    unsigned refusals; /* how often in a row, without a trial */
    bool paused;       /* nothing is asked for; the owner's */
    bool closed;       /* stop admitting */
};

/* How many to ask for now; the caller sends GE and then calls
 * scheduler_asked(). */
uint64_t scheduler_wants(const struct scheduler *s);
void scheduler_asked(struct scheduler *s, uint64_t n);

/* A trial has come; false: it is one too many and must not be started. */
bool scheduler_take(struct scheduler *s);
/* One has come that was taken on before. */
void scheduler_repeated(struct scheduler *s);
/* What was owed is forgotten: it is so much. */
void scheduler_owes(struct scheduler *s, uint64_t units);
/* A trial of an earlier life; live: it has not ended. */
void scheduler_found(struct scheduler *s, bool live);
void scheduler_ended(struct scheduler *s);
/* Of any trial: ctx is the scheduler. */
attempt_end_hear scheduler_hear_end;

/* Refusals: `units` are no longer owed. */
void scheduler_exhausted(struct scheduler *s, uint64_t units);
void scheduler_refused(struct scheduler *s, uint64_t units);

/* Refusals so far were not the tuner's doing. */
void scheduler_pardon(struct scheduler *s);

/* Nothing is asked for any more, and what is owed does not count. */
void scheduler_close(struct scheduler *s);

enum scheduler_end scheduler_end(const struct scheduler *s);

#endif
