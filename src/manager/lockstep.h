/* SPDX-License-Identifier: MIT */
/* lockstep.h - who may speak when, so that what the dispatcher hears depends
 * on nothing but what the trials report: --deterministic.  Counting alone, no
 * I/O, no clock of its own.  One thread.
 *
 *   ASK      the dispatcher is asked for trials, and has answered
 *   START    what came is started, in its order
 *   GATHER   until every trial stands: it has reported and nobody was told,
 *            or it has ended
 *   DELIVER  one event of each trial, by number, each when the one before is
 *            answered; then ASK again
 *
 * So at any time at most one thing waits for its answer: in the log of a run
 * everything stands in an order that no clock decides. */
#ifndef MANAGER_LOCKSTEP_H
#define MANAGER_LOCKSTEP_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct lockstep_trial;

enum lockstep_phase {
    LOCKSTEP_ASKS,
    LOCKSTEP_ASKED,
    LOCKSTEP_STARTS,
    LOCKSTEP_GATHERS,
    LOCKSTEP_DELIVERS,
};

/* A zeroed one begins with ASK. */
struct lockstep {
    enum lockstep_phase phase;
    struct lockstep_trial *trials; /* that run, by number */
    size_t n, cap;
    uint64_t next;          /* trials below it have had their turn */
    bool expects;           /* what was delivered is not answered */
    uint64_t before, asked; /* units owed from before the request, and its own,
                               that are not answered */
    bool again; /* then it is to be asked again: a dispatcher goes on
                   from its log, where that stood is not known */
    bool news;  /* since the last request */
    uint64_t rounds;
    int64_t waited_ns; /* by all trials together */
};

/* The event whose AK is awaited. */
struct lockstep_event {
    char id[24]; /* the trial's */
    bool end;    /* its EN, else its ME with this */
    uint64_t sequence;
    struct buf payload; /* of it, to be told again */
    uint64_t frame;     /* its number in the exchange; 0: another manager's */
};

void lockstep_fini(struct lockstep *l);

/* What is to be done now; the caller does it, says so by the function named
 * here and asks again. */
enum lockstep_move {
    LOCKSTEP_WAIT,
    LOCKSTEP_ASK,     /* lockstep_asked() */
    LOCKSTEP_START,   /* lockstep_join() for each, lockstep_started() */
    LOCKSTEP_DELIVER, /* *number's event: lockstep_delivered() */
};
enum lockstep_move lockstep_next(const struct lockstep *l, uint64_t *number);

/* `owed` units from before were not answered when n more were asked for. */
void lockstep_asked(struct lockstep *l, uint64_t owed, uint64_t n);
/* Answers, as the dispatcher gives them: the oldest unit is served or refused
 * first, and `later` is said of a request alone. */
void lockstep_came(struct lockstep *l);
void lockstep_refused(struct lockstep *l, bool later, uint64_t units);

/* The trial runs, or, having been started again, runs on: then it is known. */
int lockstep_join(struct lockstep *l, uint64_t number, struct err *err);
void lockstep_started(struct lockstep *l);
bool lockstep_knows(const struct lockstep *l, uint64_t number);

/* The trial has an event.  `idle`: it does nothing until that was told.  Said
 * again without effect. */
void lockstep_stand(struct lockstep *l, uint64_t number, bool idle,
                    int64_t now_ns);
/* It has none any more: it was stopped and will end. */
void lockstep_retract(struct lockstep *l, uint64_t number);

/* `ends`: it was the trial's last, it is no longer known. */
void lockstep_delivered(struct lockstep *l, uint64_t number, bool ends,
                        int64_t now_ns);
/* It is no longer known, and nothing of it was delivered. */
void lockstep_leave(struct lockstep *l, uint64_t number);
/* A manager goes on where another one was: the last that was delivered is not
 * known to be answered, and was of the trial `last`; `open`: nothing was asked
 * for since, so that the round goes on behind it. */
void lockstep_resume(struct lockstep *l, uint64_t last, bool open);
/* A dispatcher goes on from its log: so many units are owed, and so many are
 * served again at once; n were asked for again. */
void lockstep_resumed(struct lockstep *l, uint64_t owed, uint64_t served,
                      uint64_t n);

/* There may be more to ask for, though no trial has ended. */
void lockstep_stir(struct lockstep *l);

/* The event was sent as that frame of the exchange; copies. */
void lockstep_sent(struct lockstep_event *e, const struct buf *payload,
                   uint64_t frame);

/* What was delivered is answered; without effect when nothing was. */
void lockstep_answered(struct lockstep *l);

#endif
