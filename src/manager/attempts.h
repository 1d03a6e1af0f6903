/* SPDX-License-Identifier: MIT */
/* attempts.h - the attempts at a trial: how one is over, whoever ended it, and
 * how another takes its place.  Inside src/manager only; one thread. */
#ifndef MANAGER_ATTEMPTS_H
#define MANAGER_ATTEMPTS_H

#include "manager/attempt_end.h"
#include "manager/events.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct dues;
struct err;
struct exchange;
struct experiment_end;
struct live;
struct placing;
struct run_end;
struct trial;

/* What was found in the folder of an experiment that goes on. */
struct recovered {
    uint64_t finished, adopted, again;
};

struct attempts {
    struct live *live;
    struct placing *placing;
    struct delivery *delivery;
    const struct dues *dues;
    struct exchange *exchange;
    struct experiment_end *end;

    struct attempt_ends ends; /* who hears of them: opening.c */
    struct recovered recovered;
    int64_t run_ns; /* how long all that ended have run */
};

/* It has ended for good, in its state: told, recorded, shown; t is freed. */
void attempts_conclude(struct attempts *a, struct trial *t);
/* It is interrupted: nobody is told an end, `resume` takes it up; frees t. */
void attempts_leave(struct attempts *a, struct trial *t);
/* There is no place for it, for good; frees t. */
void attempts_unplaced(struct attempts *a, struct trial *t, const char *why);
/* Starting it failed: it is offered again, or freed. */
void attempts_unstarted(struct attempts *a, struct trial *t,
                        const struct err *err);

/* The new attempt at t, which is not live yet; NULL: out of memory. */
struct trial *attempts_next(const struct attempts *a, const struct trial *t);
/* It takes the place of t, which is freed. */
void attempts_replace(struct attempts *a, struct trial *t, struct trial *next);
/* Starts it again as a new attempt, or leaves it where the manager has to stop;
 * frees t. */
void attempts_restart_or_leave(struct attempts *a, struct trial *t);
/* Whether the attempt could not even be begun, for a reason that may pass: its
 * trial is offered a place again, as where starting it fails; t is freed. */
bool attempts_unbegun(struct attempts *a, struct trial *t,
                      const struct run_end *end);

/* The processes are gone: notes when, and the time until the signal that ended
 * them, if one did, must have reached the manager, too. */
void attempts_ended(struct attempts *a, struct trial *t);
/* Nobody has judged it, and it has no result that anybody knows of. */
bool attempts_open(const struct trial *t);

/* Whether the end of the trial means nothing and no result of it is known: it
 * is lost, or was ended for want of a manager, by a signal while it had none,
 * or, in lock step, by an interruption. */
bool attempts_in_vain(const struct attempts *a, const struct trial *t);
/* Whether the end means nothing of a trial that is found ended: the signal that
 * ended it may have ended its manager, too, before that could judge. */
bool attempts_unwitnessed(const struct attempts *a, const struct trial *t);
/* Whether such a signal ended the trial, and its files may hold a result that
 * it reported still, as within a grace. */
bool attempts_unseen(const struct attempts *a, const struct trial *t);
/* How long it ran, or runs. */
double attempts_seconds(const struct trial *t);

/* Sends NT, a note for the dispatcher's log. */
void attempts_note(struct attempts *a, const char *event, const struct trial *t,
                   const struct event_field *detail);

/* Drops what is due of a trial, and counts its time: ctx is the attempts. */
attempt_end_hear attempts_hear_end;

#endif
