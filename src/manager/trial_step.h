/* SPDX-License-Identifier: MIT */
/* trial_step.h - what an event means for a trial in its state: one table,
 * without I/O, clock or memory.  A test compares the table in tunepipe-run(1)
 * with it.
 *
 * Where nothing is said of a state and an event nothing happens.  An end
 * has no successor: when a trial is tried again (failing.h), that is a new
 * attempt, a struct trial of its own, which begins by waiting; what goes on
 * from a paused one is another trial (origin.h). */
#ifndef MANAGER_TRIAL_STEP_H
#define MANAGER_TRIAL_STEP_H

#include "manager/trial.h"

#include <stdbool.h>

enum trial_event {
    TRIAL_ON_COPY,      /* what it goes on from is being copied */
    TRIAL_ON_COPIED,    /* that has ended, well or not */
    TRIAL_ON_PREPARE,   /* prepareCommand was started */
    TRIAL_ON_PREPARED,  /* it has ended well */
    TRIAL_ON_RUN,       /* trialCommand was started */
    TRIAL_ON_EXIT,      /* its wrapper is gone */
    TRIAL_ON_STOP,      /* the assessor wants it to end */
    TRIAL_ON_SET_ASIDE, /* the tuner does: pause, or finish */
    TRIAL_ON_LIMIT,     /* maxTrialDuration, trialIdleTimeout */
    TRIAL_ON_CANCEL,    /* the user does not want it */
    TRIAL_ON_INTERRUPT, /* its manager was told to stop */
    TRIAL_ON_LEFT,      /* the same, and who runs it goes on (RUNNER_LASTS) */
    TRIAL_ON_DONE,      /* it reported to be done */
    TRIAL_ON_DEFIANCE,  /* told to end by itself it has reported once more */
    TRIAL_ON_GIVE_UP,   /* it cannot be started, or nothing is any more */
    TRIAL_ON_END,       /* its files are read and told: it is judged */
    TRIAL_EVENTS
};

/* What is to be done; running_stop() does it. */
enum trial_effect {
    TRIAL_FEED = 1,       /* read first what it reported before */
    TRIAL_RECORD = 2,     /* note why, and how much of it counts */
    TRIAL_HALT = 4,       /* it has no turn to report any more */
    TRIAL_PRESS = 8,      /* tell it to end, or give it the time to */
    TRIAL_TERMINATE = 16, /* SIGTERM to its wrapper, SIGKILL behind that */
    TRIAL_SETTLE = 32,    /* judge it now: what it would have run is known */
    TRIAL_CONCLUDE = 64,  /* its end is told, recorded and shown */
    TRIAL_LEAVE = 128,    /* nobody is told: `resume` takes it up */
};

struct trial_step {
    unsigned to;      /* the states that may follow, 1u << state; 0: it stays */
    unsigned effects; /* enum trial_effect */
};

/* Where a reason to end stands already, another one changes nothing but for
 * an interruption: any other reason takes its place. */
struct trial_step trial_step(const struct trial *t, enum trial_event event);

/* The event that a reason to end is. */
enum trial_event trial_event_of(enum trial_stop stop);

/* Whether the table leads from one state to the other. */
bool trial_may_enter(enum trial_state from, enum trial_state to);
/* Whither the table does not lead is our own mistake and ends the process. */
void trial_enter(struct trial *t, enum trial_state state);

#endif
