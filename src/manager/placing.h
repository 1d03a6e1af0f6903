/* SPDX-License-Identifier: MIT */
/* placing.h - the queue of the trials that are to be started.
 *
 * Each is offered a place in the order of their numbers, and one that finds
 * none does not hold up those behind it; put back, it has its old place.  A
 * start that fails for want of something that may come back (processes,
 * memory, files, room on the disk) costs the offer, not the trial: it is
 * offered again after a pause, from 100 ms doubled up to 10 s, until
 * placeTimeout is over since it failed first.
 *
 * The queue is walked after placing_stir() alone: whoever gives something back
 * that a trial may wait for has to call it.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_PLACING_H
#define MANAGER_PLACING_H

#include "core/list.h"
#include "manager/attempt_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct copying;
struct delivery;
struct dues;
struct err;
struct experiment;
struct experiment_folder;
struct live;
struct progress;
struct resources;
struct scheduler;
struct trial;

/* The trials that are to be started; one without any has them all zero. */
struct placing {
    const struct experiment *x;
    const struct experiment_folder *folder;
    struct resources *resources;
    const struct scheduler *scheduler;
    struct live *live;
    struct delivery *delivery;
    struct copying *copying;
    const struct dues *dues;
    struct progress *progress;

    struct list trials;     /* in the order of their numbers */
    unsigned starts_failed; /* in a row */
    bool stirred;           /* what a trial waits for may have come */
    bool warned;            /* that starts fail; until one does not */
    bool told; /* what is waited for while nothing runs; until one starts */
};

enum placing_answer {
    PLACING_NOW,
    PLACING_LATER, /* something is missing; those behind it may have theirs */
};

/* Whether what is to be started for the trial is prepareCommand, and not its
 * run yet. */
bool placing_prepares(const struct placing *p, const struct trial *t);
/* Whether it may start now.  Of LATER `why` says the reason, one line for
 * people; what was claimed for NOW is given back by placing_release(). */
enum placing_answer placing_try(struct placing *p, struct trial *t, char *why,
                                size_t size);
/* What one that waits to be started waits for, appended as one line. */
void placing_explain(struct placing *p, const struct trial *t, struct buf *out);
/* It was not started after all, or its processes are gone. */
void placing_release(struct placing *p, struct trial *t);

void placing_stir(struct placing *p);
/* The same for what time or the machine has brought, and no trial's end: in
 * lock step, where nothing may run by then, there is a new round. */
void placing_wake(struct placing *p);

/* Of any trial: ctx is the placing. */
attempt_end_hear placing_hear_end;

/* The queue keeps the order of the numbers, whenever they come. */
void placing_add(struct placing *p, struct trial *t);

/* Before it is started: what an offer that failed has left in its folder goes,
 * which then was perhaps not possible. */
void placing_clear(struct placing *p, struct trial *t);
/* Starting it failed so.  Whether it is offered again later. */
bool placing_again(struct placing *p, struct trial *t, const struct err *why);
/* How long to wait after so many starts have failed before. */
int64_t placing_pause_ns(unsigned failures);
/* Its wrapper was started. */
void placing_done(struct placing *p, struct trial *t);

#endif
