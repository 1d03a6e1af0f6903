/* SPDX-License-Identifier: MIT */
#include "manager/running.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/attempts.h"
#include "manager/blame.h"
#include "manager/delivery.h"
#include "manager/dues.h"
#include "manager/experiment_end.h"
#include "manager/failing.h"
#include "manager/goals.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/reading.h"
#include "manager/resources.h"
#include "manager/resume_log.h"
#include "manager/stopping.h"
#include "manager/trial_folder.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_PAUSE_NS ((int64_t)1000 * 1000000)

void
running_since(struct running *r, struct trial *t, int64_t started_ns)
{
    if (t->run->queued)
        return; /* until it is not */
    t->started_ns = started_ns;
    t->reported_ns = clock_monotonic_ns();
    goals_trial_began(r->goals, started_ns);
    if (r->x->max_idle_ms > 0)
        dues_set(r->dues, t, TRIAL_DUE_IDLE,
                 t->reported_ns + r->x->max_idle_ms * 1000000);
    if (r->x->max_trial_ms > 0)
        dues_set(r->dues, t, TRIAL_DUE_LIMIT,
                 t->started_ns + r->x->max_trial_ms * 1000000);
}

void
running_look(struct running *r, struct trial *t)
{
    if (t->state == TRIAL_RUNNING)
        reading_feed(r->reading, t);
}

/* Where the kernel has no memory to watch for the trial's end, for now, that is
 * tried again; an end meanwhile is seen once the watch stands. */
void
running_watch(struct running *r, struct trial *t)
{
    struct err err;

    if (t->run->runner->ops->watch(t->run) == 0)
        return;
    err_errno(&err, ERR_SYSTEM, "its end cannot be watched for");
    progress_warn(r->progress,
                  "tunepipe: warning: trial %s: %s; tried again every second",
                  t->id, err.text);
    dues_set(r->dues, t, TRIAL_DUE_WATCH,
             clock_monotonic_ns() + WATCH_PAUSE_NS);
}

bool
running_is_cut(const struct running *r, struct trial *t,
               const struct run_end *end)
{
    bool again = t->attempt - t->failures < r->x->cluster.interruptions;

    if (!end->again || t->stop != STOP_NOT || !attempts_open(t))
        return false;
    if (end->why[0] == '\0')
        return true;
    progress_say(r->progress, "trial %s interrupted: %s%s", t->id, end->why,
                 again ? "; started again"
                       : ", more often than interruptionRetry says");
    if (again)
        return true;
    t->outcome.kind = OUTCOME_LOST;
    snprintf(t->outcome.text, sizeof t->outcome.text, "%s", end->why);
    return false;
}

/* A trial on another machine has the times that were measured there: its end is
 * seen later. */
static void
set_times(struct trial *t, int64_t asked_ns)
{
    const struct outcome *o = &t->outcome;

    t->started_ns = t->ended_ns - (o->ended_ns - o->started_ns);
    if (t->started_ns > asked_ns)
        t->queued_s = (double)(t->started_ns - asked_ns) / 1e9;
}

void
running_exited(struct running *r, struct trial *t)
{
    bool is_elsewhere = t->run->runner->ops->can & RUNNER_ELSEWHERE;
    int64_t asked_ns = t->run->asked_ns;
    struct err err = {0};
    struct run_end end;

    if (run_end(&t->run, &end, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    t->outcome = end.outcome;
    memcpy(t->place, end.place, sizeof t->place);
    dues_drop(r->dues, t);
    attempts_ended(r->attempts, t);
    if (is_elsewhere && t->outcome.ended_ns > t->outcome.started_ns)
        set_times(t, asked_ns);
    placing_release(r->placing, t);
    blame_run_end(r->blame, &end);
    if (attempts_unbegun(r->attempts, t, &end))
        return;
    if (end.again)
        reading_feed(r->reading, t); /* it may have had a result before */
    live_step(r->live, t, TRIAL_ON_EXIT);
    resources_learn(r->resources, t);
    if (t->past.restored && t->outcome.alone && attempts_unseen(r->attempts, t))
        t->stop = STOP_INTERRUPT; /* as of a trial whose wrapper is gone when
                                     this manager comes: see restore.c */
    if (running_is_cut(r, t, &end) ||
        (t->past.restored && attempts_in_vain(r->attempts, t)))
        attempts_restart_or_leave(r->attempts, t);
    else
        running_finish(r, t);
}

void
running_finish(struct running *r, struct trial *t)
{
    if (t->due[TRIAL_DUE_JUDGE].place == 0 || t->stop != STOP_NOT)
        r->delivery->ops->exited(r->delivery, t);
    /* Else called again when that is over. */
}

/* False: its result is known, or nothing is started any more.  Frees t. */
static bool
again_with_more(struct running *r, struct trial *t)
{
    struct trial *next;

    if (t->final.given || t->past.told.finals > 0 || r->end->known)
        return false;
    next = attempts_next(r->attempts, t);
    if (next == NULL)
        return false;
    progress_say(r->progress, "trial %s %s; tried again with more", t->id,
                 t->why);
    r->attempts->recovered.again++;
    attempts_replace(r->attempts, t, next);
    return true;
}

static void
note_exit(struct running *r, const struct trial *t, enum trial_state state)
{
    const struct outcome *o = &t->outcome;
    char status[64];

    if (state == TRIAL_INTERRUPTED)
        snprintf(status, sizeof status, "%s", STATUS_INTERRUPTED);
    else if (o->kind == OUTCOME_LOST)
        snprintf(status, sizeof status, "lost");
    else if (o->kind == OUTCOME_DECLARED)
        snprintf(status, sizeof status, "failed");
    else
        snprintf(status, sizeof status, "%s %d",
                 o->kind == OUTCOME_EXITED      ? "exited"
                 : o->kind == OUTCOME_SIGNALLED ? "signalled"
                                                : "unstarted",
                 o->number);
    if (!t->past.end_told)
        attempts_note(r->attempts, "exited", t,
                      (struct event_field[]){EVENT_TEXT("status", status),
                                             EVENT_FIELDS_END});
}

/* Says that a trial which the tuner stopped at its budget has a result of more
 * than that, so that tables rank it by what the tuner has not looked at. */
static void
warn_beyond_budget(const struct running *r, const struct trial *t)
{
    struct metrics_count n = reading_count(r->reading, t);
    struct progress *p = r->progress;

    if (p->beyond_budget_once || !trial_stops_well(t) || !t->reached.given ||
        n.finals == 0 || n.intermediates <= t->reached_at + 1)
        return; /* n.finals == 0: the result is the one at its budget */
    p->beyond_budget_once = true;
    progress_warn(p,
                  "tunepipe: warning: trial %s came to report %llu "
                  "with " TRIAL_BUDGET_PARAMETER " %.4g: the tuner goes by "
                  "report %llu, tables by its final result, of more steps; it "
                  "should end at its budget, as should others like it",
                  t->id, (unsigned long long)(t->step + n.intermediates),
                  t->budget, (unsigned long long)(t->step + t->reached_at) + 1);
}

bool
running_end(struct running *r, struct trial *t)
{
    bool more = false;
    enum trial_state state;

    reading_promote(r->reading, t, &t->outcome);
    state = trial_judge(t, &t->outcome);
    if (state == TRIAL_FAILED && t->past.end == TRIAL_WAITING &&
        resources_failed(r->resources, t, &more))
        state = TRIAL_OUT_OF_MEMORY;
    if (t->past.end != TRIAL_WAITING &&
        (state == TRIAL_INTERRUPTED ||
         strcmp(trial_event_name(state), trial_event_name(t->past.end)) != 0))
        state = t->past.end; /* as it was told, or recorded */
    note_exit(r, t, state);
    if (state == TRIAL_INTERRUPTED) {
        attempts_restart_or_leave(r->attempts,
                                  t); /* with the next manager, or this one */
        return false;
    }
    if (more && again_with_more(r, t))
        return false;
    if (failing_again(r->failing, t, state, attempts_seconds(t)))
        return false;
    warn_beyond_budget(r, t);
    live_enter(r->live, t, state);
    attempts_conclude(r->attempts, t);
    return true;
}

/* Once each: those of which there is more come behind the last one of now,
 * which may be freed on the way. */
void
running_read_on(struct running *r)
{
    size_t n = 0;

    for (const struct link *at = r->reading->unread.first; at != NULL;
         at = at->next)
        n++;
    for (; n > 0 && r->reading->unread.first != NULL; n--) {
        struct trial *t = r->reading->unread.first->of;

        list_remove(&t->unread);
        if (trial_exited(t))
            running_finish(r, t);
        else if (t->state == TRIAL_RUNNING)
            reading_feed(r->reading, t);
    }
}

/* ---- stopped ---- */

/* How much of what was read counts.  A trial that goes on beyond its budget is
 * stopped on the dot, however much it had reported by the time. */
static struct metrics_count
count_before(const struct running *r, const struct trial *t)
{
    struct metrics_count n = r->delivery->ops->counted(r->delivery, t);

    if (trial_stops_well(t) && t->reached.given &&
        n.intermediates > t->reached_at + 1)
        n.intermediates = t->reached_at + 1;
    return n;
}

/* So that another manager knows what counts and what does not. */
static void
record_stop(struct running *r, struct trial *t, enum trial_stop stop)
{
    char *path =
        trial_folder_need(t) == 0 ? file_join(t->folder, TRIAL_STOP) : NULL;
    char line[80];
    int len;

    t->stop = stop;
    t->counted = count_before(r, t);
    if (trial_stops_well(t) && t->reached.given)
        reported_copy(&t->latest, &t->reached);
    len = snprintf(line, sizeof line, "%s %llu %llu\n", trial_stop_name(stop),
                   (unsigned long long)t->counted.intermediates,
                   (unsigned long long)t->counted.finals);
    if (path != NULL)
        file_write(path, line, (size_t)len, NULL);
    free(path);
    if (trial_stop_is_decided(stop))
        publish_decision(r->publish, t);
}

/* Whoever waits to be told so is, and ends within the grace.  So does who knows
 * its budget; who does not is seen by what it reports behind it. */
static bool
ends_by_itself(const struct running *r, const struct trial *t)
{
    if (trial_stops_well(t))
        return reading_count(r->reading, t).intermediates <=
               t->counted.intermediates;
    return t->stop == STOP_ASSESSOR && unanswered_hears(&t->unanswered);
}

static void
press(struct running *r, struct trial *t)
{
    bool programs = t->run->runner->ops->can & RUNNER_PROGRAMS;

    dues_set(r->dues, t, TRIAL_DUE_LIMIT, INT64_MAX);
    dues_set(r->dues, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (!programs && trial_stop_is_decided(t->stop))
        ; /* whoever runs it is told, and ends it when he likes to */
    else if (ends_by_itself(r, t))
        dues_set(r->dues, t, TRIAL_DUE_TERM,
                 clock_monotonic_ns() + r->x->grace_ms * 1000000);
    else
        stopping_terminate(r->stopping, t);
    unanswered_answer_all(&t->unanswered, trial_answer(t));
}

/* It does not run, or not yet again; frees t. */
static void
settle(struct running *r, struct trial *t, enum trial_stop stop)
{
    t->stop = stop;
    if (stop == STOP_FINISH)
        reading_finish(r->reading, t);
    if (!t->latest.given)
        reported_copy(&t->latest, &t->earlier);
    live_enter(r->live, t, trial_judge(t, &t->outcome));
    attempts_conclude(r->attempts, t);
}

/* Nobody is told an end; where a signal had ended it, that was the manager's,
 * too, and whoever resumes finds it so.  Frees t. */
static void
leave(struct running *r, struct trial *t)
{
    if (t->due[TRIAL_DUE_JUDGE].place > 0 && t->stop == STOP_NOT)
        record_stop(r, t, STOP_INTERRUPT);
    attempts_leave(r->attempts, t);
}

/* Whether a reason to end comes too late for one that runs, or has run: it said
 * before that it is done; or its next attempt is told so, at the same place. */
static bool
is_late(const struct running *r, const struct trial *t)
{
    return t->state != TRIAL_PREPARING &&
           ((t->done && r->delivery->ops->immediate) ||
            (t->stop == STOP_INTERRUPT && r->delivery->ops->repeats));
}

/* The end of one that has exited is not known to anybody yet: the user's word
 * counts, who does not wait for a dispatcher that is slow or hangs, and what
 * the last report that is not answered yet leads to. */
static bool
counts(const struct running *r, const struct trial *t, enum trial_stop stop)
{
    return !trial_exited(t) ||
           (!t->past.end_told && !t->past.recorded &&
            (stop != STOP_ASSESSOR || r->delivery->ops->hears_late(t)));
}

/* Whether what the trial has reported, and nobody has read, is read before it
 * is stopped.  Not so in lock step for the assessor's decision, which is about
 * what was told, nor for an interruption, as the next attempt repeats the
 * reports. */
static bool
is_read_first(const struct running *r, enum trial_stop stop)
{
    return r->delivery->ops->immediate ||
           (stop != STOP_INTERRUPT && stop != STOP_ASSESSOR);
}

void
running_stop(struct running *r, struct trial *t, enum trial_stop stop)
{
    enum trial_event event = trial_event_of(stop);
    unsigned effects = trial_step(t, event).effects;

    if (r->delivery->ops->postpones(t, stop))
        return;
    if (effects & TRIAL_TERMINATE)
        stopping_terminate(r->stopping, t);
    if ((effects & TRIAL_FEED) && !is_late(r, t) && is_read_first(r, stop)) {
        reading_feed(r->reading, t);
        effects = trial_step(t, event).effects; /* it may have ended by that */
    }
    if ((effects & TRIAL_RECORD) && is_late(r, t))
        return;
    if ((effects & TRIAL_RECORD) && counts(r, t, stop))
        record_stop(r, t, stop);
    if (effects & TRIAL_HALT)
        r->delivery->ops->stopped(r->delivery, t);
    if (effects & TRIAL_PRESS)
        press(r, t);
    if (effects & TRIAL_SETTLE)
        settle(r, t, stop);
    if (effects & TRIAL_CONCLUDE) {
        live_enter(r->live, t, TRIAL_CANCELLED);
        attempts_conclude(r->attempts, t);
    }
    if (effects & TRIAL_LEAVE)
        leave(r, t);
}

void
running_press_late(struct running *r, struct trial *t)
{
    if (t->stop == STOP_INTERRUPT) /* a second SIGTERM would end its grace */
        dues_set(r->dues, t, TRIAL_DUE_TERM,
                 clock_monotonic_ns() + r->x->grace_ms * 1000000);
    else
        press(r, t);
}

bool
running_leaves_all(const struct running *r, const struct runner *by)
{
    return (by->ops->can & RUNNER_LASTS) &&
           !(r->end->told && (by->ops->can & RUNNER_PROGRAMS));
}

void
running_interrupt_all(struct running *r)
{
    struct trial *t, *next;

    if (r->end->interrupting)
        return; /* a second SIGTERM would end the grace */
    r->end->interrupting = true;
    for (t = r->live->first; t != NULL; t = next) {
        next = t->next;
        if (t->state == TRIAL_RUNNING && running_leaves_all(r, t->run->runner))
            attempts_leave(r->attempts, t);
        else
            running_stop(r, t, STOP_INTERRUPT);
    }
}

void
running_hurry_all(struct running *r)
{
    for (struct trial *t = r->live->first; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING)
            stopping_hurry(r->stopping, t);
}

/* ---- what is due ---- */

static void
limit_over(void *ctx, void *of)
{
    running_stop(ctx, of, STOP_TIMEOUT);
}

/* Set when it was started: what it has reported since has moved it. */
static void
idle_over(void *ctx, void *of)
{
    struct running *r = ctx;
    struct trial *t = of;
    int64_t now = clock_monotonic_ns();
    int64_t most = r->x->max_idle_ms * 1000000;

    if (reading_waits(r->reading, t))
        t->reported_ns = now;
    else if (now >= t->reported_ns + most)
        reading_feed(r->reading, t); /* what its file holds counts */
    if (t->state != TRIAL_RUNNING || t->stop != STOP_NOT || t->done)
        return;
    if (now >= t->reported_ns + most)
        running_stop(r, t, STOP_IDLE);
    else
        dues_set(r->dues, t, TRIAL_DUE_IDLE, t->reported_ns + most);
}

static void
patience_over(void *ctx, void *of)
{
    const struct running *r = ctx;

    stopping_terminate(r->stopping, of);
}

static void
wrapper_given_up(void *ctx, void *of)
{
    struct trial *t = of;

    (void)ctx;
    run_stop(t->run, RUN_GIVE_UP);
}

static void
offer_again(void *ctx, void *of)
{
    const struct running *r = ctx;

    (void)of;
    placing_wake(r->placing);
}

static void
no_signal_came(void *ctx, void *of)
{
    running_finish(ctx, of);
}

static void
watch_again(void *ctx, void *of)
{
    const struct running *r = ctx;
    struct trial *t = of;

    if (t->run->runner->ops->watch(t->run) != 0)
        dues_set(r->dues, t, TRIAL_DUE_WATCH,
                 clock_monotonic_ns() + WATCH_PAUSE_NS);
}

static void
place_given_up(void *ctx, void *of)
{
    struct running *r = ctx;
    struct trial *t = of;
    char why[600];

    if (t->due[TRIAL_DUE_OFFER].place == 0)
        return; /* it waits for something else by now */
    snprintf(why, sizeof why,
             "it could not be started within %.0f s "
             "(placeTimeout): %.450s",
             (double)r->x->place_ms / 1e3, t->why);
    attempts_unplaced(r->attempts, t, why);
}

deadline_due *const running_dues[TRIAL_DUES] = {
    [TRIAL_DUE_LIMIT] = limit_over,     [TRIAL_DUE_IDLE] = idle_over,
    [TRIAL_DUE_TERM] = patience_over,   [TRIAL_DUE_KILL] = wrapper_given_up,
    [TRIAL_DUE_AGAIN] = offer_again,    [TRIAL_DUE_OFFER] = offer_again,
    [TRIAL_DUE_PLACE] = place_given_up, [TRIAL_DUE_JUDGE] = no_signal_came,
    [TRIAL_DUE_WATCH] = watch_again,
};
