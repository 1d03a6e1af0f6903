/* SPDX-License-Identifier: MIT */
#include "manager/trial_step.h"

#include <assert.h>

#define BIT(state) (1u << (state))
/* What a trial comes to that its tuner or assessor wants to end unrun. */
#define DECIDED                                                      \
    (BIT(TRIAL_SUCCEEDED) | BIT(TRIAL_FAILED) | BIT(TRIAL_STOPPED) | \
     BIT(TRIAL_PAUSED))
/* What may come of a program that has ended. */
#define JUDGED                                               \
    (DECIDED | BIT(TRIAL_CANCELLED) | BIT(TRIAL_TIMED_OUT) | \
     BIT(TRIAL_OUT_OF_MEMORY) | BIT(TRIAL_LOST))

#define TO(states)     \
    {                  \
        .to = (states) \
    }
#define DOES(what)        \
    {                     \
        .effects = (what) \
    }

/* The row of a trial that waits: it has no program yet, or prepareCommand has
 * ended and trialCommand not begun. */
#define WAITS                                                        \
    [TRIAL_ON_STOP] = {.to = DECIDED, .effects = TRIAL_SETTLE},      \
    [TRIAL_ON_SET_ASIDE] = {.to = DECIDED, .effects = TRIAL_SETTLE}, \
    [TRIAL_ON_CANCEL] = {.to = BIT(TRIAL_CANCELLED),                 \
                         .effects = TRIAL_CONCLUDE},                 \
    [TRIAL_ON_INTERRUPT] = {.to = BIT(TRIAL_INTERRUPTED),            \
                            .effects = TRIAL_LEAVE},                 \
    [TRIAL_ON_GIVE_UP] = TO(BIT(TRIAL_FAILED) | BIT(TRIAL_CANCELLED))

static const struct trial_step table[TRIAL_STATES][TRIAL_EVENTS] =
    {
        [TRIAL_WAITING] =
            {
                [TRIAL_ON_COPY] = TO(BIT(TRIAL_COPYING)),
                [TRIAL_ON_PREPARE] = TO(BIT(TRIAL_PREPARING)),
                [TRIAL_ON_RUN] = TO(BIT(TRIAL_RUNNING)),
                WAITS,
            },
        [TRIAL_COPYING] =
            {
                [TRIAL_ON_COPIED] = TO(BIT(TRIAL_WAITING)),
                WAITS,
            },
        [TRIAL_PREPARING] =
            {
                [TRIAL_ON_PREPARED] = TO(BIT(TRIAL_PREPARED)),
                [TRIAL_ON_EXIT] = TO(BIT(TRIAL_PREPARE_ENDED)),
                [TRIAL_ON_STOP] = DOES(TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_SET_ASIDE] = DOES(TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_LIMIT] = DOES(TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_CANCEL] = DOES(TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_INTERRUPT] = DOES(TRIAL_RECORD | TRIAL_PRESS),
            },
        [TRIAL_PREPARE_ENDED] =
            {
                [TRIAL_ON_CANCEL] = DOES(TRIAL_RECORD | TRIAL_HALT),
                [TRIAL_ON_INTERRUPT] = {.to = BIT(TRIAL_INTERRUPTED),
                                        .effects = TRIAL_LEAVE},
                [TRIAL_ON_END] = TO(JUDGED),
            },
        [TRIAL_PREPARED] =
            {
                [TRIAL_ON_RUN] = TO(BIT(TRIAL_RUNNING)),
                WAITS,
            },
        [TRIAL_RUNNING] =
            {
                [TRIAL_ON_EXIT] = TO(BIT(TRIAL_RUN_ENDED)),
                [TRIAL_ON_STOP] =
                    DOES(TRIAL_FEED | TRIAL_RECORD | TRIAL_HALT | TRIAL_PRESS),
                [TRIAL_ON_SET_ASIDE] =
                    DOES(TRIAL_RECORD | TRIAL_HALT | TRIAL_PRESS),
                [TRIAL_ON_LIMIT] =
                    DOES(TRIAL_FEED | TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_CANCEL] =
                    DOES(TRIAL_FEED | TRIAL_RECORD | TRIAL_PRESS),
                [TRIAL_ON_INTERRUPT] =
                    DOES(TRIAL_FEED | TRIAL_RECORD | TRIAL_HALT | TRIAL_PRESS),
                [TRIAL_ON_LEFT] = TO(BIT(TRIAL_INTERRUPTED)),
                [TRIAL_ON_DONE] = DOES(TRIAL_TERMINATE),
                [TRIAL_ON_DEFIANCE] = DOES(TRIAL_TERMINATE),
            },
        [TRIAL_RUN_ENDED] =
            {
                [TRIAL_ON_STOP] = DOES(TRIAL_RECORD | TRIAL_HALT),
                [TRIAL_ON_SET_ASIDE] = DOES(TRIAL_RECORD | TRIAL_HALT),
                [TRIAL_ON_CANCEL] = DOES(TRIAL_RECORD | TRIAL_HALT),
                [TRIAL_ON_INTERRUPT] = {.to = BIT(TRIAL_INTERRUPTED),
                                        .effects = TRIAL_LEAVE},
                [TRIAL_ON_END] = TO(JUDGED),
            },
};

/* The user has no grace for one that was told to end by itself. */
static bool
is_pressed_again(const struct trial *t, enum trial_event event)
{
    return event == TRIAL_ON_CANCEL && t->state == TRIAL_RUNNING &&
           t->due[TRIAL_DUE_TERM].place > 0;
}

struct trial_step
trial_step(const struct trial *t, enum trial_event event)
{
    struct trial_step step = table[t->state][event];

    if ((step.effects & TRIAL_RECORD) && !trial_undecided(t))
        step.effects = 0; /* the first reason stays */
    if (event == TRIAL_ON_DEFIANCE && !trial_stops_well(t))
        step.effects = 0; /* it was not told to, or is ended already */
    if (event == TRIAL_ON_INTERRUPT && t->stop == STOP_INTERRUPT &&
        (step.effects & TRIAL_PRESS))
        step.effects = 0; /* a second SIGTERM would end its grace */
    if (is_pressed_again(t, event))
        step.effects |= TRIAL_TERMINATE;
    return step;
}

enum trial_event
trial_event_of(enum trial_stop stop)
{
    static const enum trial_event events[STOP_REASONS] = {
        [STOP_ASSESSOR] = TRIAL_ON_STOP,
        [STOP_TIMEOUT] = TRIAL_ON_LIMIT,
        [STOP_IDLE] = TRIAL_ON_LIMIT,
        [STOP_CANCEL] = TRIAL_ON_CANCEL,
        [STOP_PAUSE] = TRIAL_ON_SET_ASIDE,
        [STOP_FINISH] = TRIAL_ON_SET_ASIDE,
        [STOP_INTERRUPT] = TRIAL_ON_INTERRUPT,
    };

    return events[stop];
}

bool
trial_may_enter(enum trial_state from, enum trial_state to)
{
    for (int event = 0; event < TRIAL_EVENTS; event++)
        if (table[from][event].to & BIT(to))
            return true;
    return false;
}

void
trial_enter(struct trial *t, enum trial_state state)
{
    assert(trial_may_enter(t->state, state));
    t->state = state;
}
