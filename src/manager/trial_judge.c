/* SPDX-License-Identifier: MIT */
#include "manager/trial.h"

#include <stdio.h>
#include <string.h>

/* Above 128 a shell speaks of the signal that ended its last command. */
static void
describe_status(struct trial *t, int status)
{
    const char *name = status > 128 ? sigdescr_np(status - 128) : NULL;

    if (name != NULL)
        snprintf(t->why, sizeof t->why, "exit status %d (signal %d, %s)",
                 status, status - 128, name);
    else
        snprintf(t->why, sizeof t->why, "exit status %d", status);
}

static enum trial_state
judge_exited(struct trial *t, const struct outcome *outcome)
{
    if (outcome->number != 0) {
        describe_status(t, outcome->number);
        return TRIAL_FAILED;
    }
    if (t->final.given)
        return TRIAL_SUCCEEDED;
    snprintf(t->why, sizeof t->why, TRIAL_NO_FINAL);
    return TRIAL_FAILED;
}

/* Says of which phase the failure is. */
static void
name_phase(struct trial *t)
{
    char why[sizeof t->why];

    memcpy(why, t->why, sizeof why);
    snprintf(t->why, sizeof t->why, "prepareCommand: %.480s", why);
}

static enum trial_state
judge_unstopped(struct trial *t, const struct outcome *outcome)
{
    bool run = t->state == TRIAL_RUN_ENDED;

    if (run && t->done && t->final.given)
        return TRIAL_SUCCEEDED;
    /* Nobody knows how it would have ended, and its result counts. */
    if (run && t->past.restored && t->final.given && outcome_is_moot(outcome))
        return TRIAL_SUCCEEDED;
    switch (outcome->kind) {
    case OUTCOME_EXITED:
        return judge_exited(t, outcome);
    case OUTCOME_SIGNALLED:
        snprintf(t->why, sizeof t->why, "signal %d (%s)", outcome->number,
                 sigdescr_np(outcome->number) != NULL
                     ? sigdescr_np(outcome->number)
                     : "unknown");
        return TRIAL_FAILED;
    case OUTCOME_UNSTARTED:
        snprintf(t->why, sizeof t->why, "could not be started: %s",
                 outcome->text);
        return TRIAL_FAILED;
    case OUTCOME_LOST:
        break;
    }
    if (t->why[0] == '\0')
        snprintf(t->why, sizeof t->why, "%s",
                 outcome->text[0] != '\0' ? outcome->text
                                          : "its wrapper vanished");
    return TRIAL_LOST;
}

/* It had come as far as the tuner wanted: how it ended then is nothing to
 * anybody, unless it had a result of its own. */
static enum trial_state
judge_paused(struct trial *t, const struct outcome *outcome)
{
    if (t->final.given && judge_unstopped(t, outcome) == TRIAL_SUCCEEDED)
        return TRIAL_SUCCEEDED;
    t->why[0] = '\0';
    return TRIAL_PAUSED;
}

/* A result that it still could report counts, however it ended then. */
static enum trial_state
judge_interrupted(struct trial *t)
{
    t->why[0] = '\0';
    return t->final.given ? TRIAL_SUCCEEDED : TRIAL_INTERRUPTED;
}

static enum trial_state
judge_finished(struct trial *t)
{
    t->why[0] = '\0';
    if (t->final.given)
        return TRIAL_SUCCEEDED;
    snprintf(t->why, sizeof t->why,
             "told to finish before it had reported anything");
    return TRIAL_FAILED;
}

enum trial_state
trial_judge(struct trial *t, const struct outcome *outcome)
{
    enum trial_state state;

    switch (t->stop) {
    case STOP_ASSESSOR:
        return TRIAL_STOPPED;
    case STOP_TIMEOUT:
        return TRIAL_TIMED_OUT;
    case STOP_IDLE:
        snprintf(t->why, sizeof t->why, "no metric within trialIdleTimeout");
        return TRIAL_TIMED_OUT;
    case STOP_CANCEL:
        return TRIAL_CANCELLED;
    case STOP_PAUSE:
        return judge_paused(t, outcome);
    case STOP_FINISH:
        return judge_finished(t);
    case STOP_INTERRUPT:
        return judge_interrupted(t);
    case STOP_NOT:
    case STOP_REASONS:
        break;
    }
    state = judge_unstopped(t, outcome);
    if (t->state == TRIAL_PREPARE_ENDED)
        name_phase(t);
    return state == TRIAL_FAILED && outcome->out_of_memory ? TRIAL_OUT_OF_MEMORY
                                                           : state;
}

const char *
trial_ended_by(const struct trial *t)
{
    const struct outcome *o = &t->outcome;

    switch (t->stop) {
    case STOP_ASSESSOR:
        return "assessor";
    case STOP_TIMEOUT:
    case STOP_IDLE:
        return "clock";
    case STOP_CANCEL:
        return "user";
    case STOP_PAUSE:
    case STOP_FINISH:
        return "tuner";
    case STOP_INTERRUPT:
    case STOP_NOT:
    case STOP_REASONS:
        break;
    }
    if (t->state == TRIAL_INTERRUPTED)
        return "manager";
    if (t->state == TRIAL_CANCELLED)
        return "user";
    if (t->state == TRIAL_PAUSED)
        return "tuner";
    if (t->state == TRIAL_STOPPED)
        return "assessor";
    if (!trial_exited(t) || o->out_of_memory || o->kind == OUTCOME_UNSTARTED ||
        o->kind == OUTCOME_LOST)
        return "system";
    if (o->kind == OUTCOME_SIGNALLED ||
        (o->number > 128 && sigdescr_np(o->number - 128) != NULL))
        return "signal";
    return "itself";
}
