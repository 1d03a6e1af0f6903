/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/coordinator.h"
#include "manager/copying.h"
#include "manager/delivery.h"
#include "manager/ending.h"
#include "manager/failing.h"
#include "manager/publish.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/reading.h"
#include "manager/resume_log.h"
#include "manager/trial_step.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES_FAILED_MAX 3

void
running_since(struct manager *m, struct trial *t, int64_t started_ns)
{
    t->started_ns = started_ns;
    t->reported_ns = clock_monotonic_ns();
    goals_trial_began(&m->goals, started_ns);
    if (m->x->max_idle_ms > 0)
        running_due(m, t, TRIAL_DUE_IDLE,
                    t->reported_ns + m->x->max_idle_ms * 1000000);
    if (m->x->max_trial_ms > 0)
        running_due(m, t, TRIAL_DUE_LIMIT,
                    t->started_ns + m->x->max_trial_ms * 1000000);
}

/* Where the kernel has no memory to watch for the trial's end, for now, that is
 * tried again; an end meanwhile is seen once the watch stands. */
void
running_watch(struct manager *m, struct trial *t)
{
    struct err err;

    if (t->run->runner->ops->watch(t->run) == 0)
        return;
    err_errno(&err, ERR_SYSTEM, "its end cannot be watched for");
    progress_warn(&m->progress,
                  "tunepipe: warning: trial %s: %s; tried again every second",
                  t->id, err.text);
    running_due(m, t, TRIAL_DUE_WATCH, clock_monotonic_ns() + WATCH_PAUSE_NS);
}

/* Slots that a trial in this state holds. */
static void
count_slot(struct manager *m, enum trial_state state, int n)
{
    if (state == TRIAL_PREPARING)
        m->n_preparing += (uint64_t)n;
    else if (state == TRIAL_RUNNING || state == TRIAL_RUN_ENDED)
        m->n_running += (uint64_t)n;
}

void
running_enter(struct manager *m, struct trial *t, enum trial_state state)
{
    count_slot(m, t->state, -1);
    count_slot(m, state, 1);
    if (t->state == TRIAL_COPYING && state != TRIAL_WAITING)
        copying_stop(m, t);
    trial_enter(t, state);
}

void
running_step(struct manager *m, struct trial *t, enum trial_event event)
{
    struct trial_step step = trial_step(t, event);
    int state = 0;

    while (state < TRIAL_STATES && step.to != 1u << state)
        state++;
    running_enter(m, t, (enum trial_state)state);
}

static double
seconds_of(const struct trial *t)
{
    const struct outcome *o = &t->outcome;

    if (t->past.restored && o->started_ns > 0 && o->ended_ns > o->started_ns)
        return (double)(o->ended_ns - o->started_ns) / 1e9;
    if (t->started_ns == 0)
        return 0;
    return (double)((trial_exited(t) ? t->ended_ns : clock_monotonic_ns()) -
                    t->started_ns) /
           1e9;
}

void
running_hear_end(void *ctx, const struct attempt_end *end)
{
    struct trial *t = end->trial;
    struct manager *m = ctx;

    for (int kind = 0; kind < TRIAL_DUES; kind++)
        deadlines_drop(&m->deadlines, &t->due[kind]);
    m->trials_ns += (int64_t)(end->seconds * 1e9);
    if (end->how == ATTEMPT_LEFT ||
        (end->how == ATTEMPT_JUDGED && !trial_exited(t)))
        lockstep_leave(&m->lockstep, t->number); /* its turn never comes */
    if (end->how == ATTEMPT_LEFT && trial_began(t) && m->end_known &&
        m->outcome->end <= MANAGER_DURATION)
        m->outcome->end = MANAGER_INTERRUPTED; /* it was to end before that */
}

static void
end(struct manager *m, enum attempt_end_how how, struct trial *t)
{
    attempt_ends_tell(&m->ends,
                      &(struct attempt_end){
                          .how = how, .trial = t, .seconds = seconds_of(t)});
    live_remove(m, t);
    trial_free(t);
}

void
running_conclude(struct manager *m, struct trial *t)
{
    end(m, ATTEMPT_JUDGED, t);
}

void
running_leave(struct manager *m, struct trial *t)
{
    running_enter(m, t, TRIAL_INTERRUPTED);
    end(m, ATTEMPT_LEFT, t);
}

/* No place for it, for good; frees t. */
void
running_unplaced(struct manager *m, struct trial *t, const char *why)
{
    snprintf(t->why, sizeof t->why, "%.500s", why);
    running_enter(m, t, TRIAL_FAILED);
    if (++m->launches_failed >= LAUNCHES_FAILED_MAX)
        manager_end(m, MANAGER_UNABLE, "trials cannot be started: %s", why);
    running_conclude(m, t);
}

void
running_unstarted(struct manager *m, struct trial *t, const struct err *err)
{
    if (placing_again(m, t, err))
        return;
    placing_release(m, t);
    running_unplaced(m, t, err->text);
}

static void
note_start(struct manager *m, const struct trial *t)
{
    char devices[256];
    const struct event_field detail[] = {
        EVENT_COUNT("pid", (uint64_t)run_pid(t->run)),
        EVENT_TEXT("device", t->claim.devices == 0
                                 ? NULL
                                 : claim_devices(t->claim.devices, devices,
                                                 sizeof devices)),
        EVENT_FIELDS_END};

    manager_send_note(m, "started", t, detail);
}

static void
start(struct manager *m, struct trial *t)
{
    struct err err = {0};

    if (t->state == TRIAL_WAITING)
        placing_clear(m, t);
    if (launch_trial(&m->launch, t, &err) != 0) {
        running_unstarted(m, t, &err);
        return;
    }
    placing_done(m, t);
    m->launches_failed = 0;
    t->past.restored = false; /* its run is this manager's own */
    origin_unpin(&m->checkpoints, &m->progress, t);
    running_step(m, t, TRIAL_ON_RUN);
    running_since(m, t, clock_monotonic_ns());
    running_watch(m, t);
    note_start(m, t);
    publish_trial(m, EVENT_TRIAL_STARTED, t);
    m->delivery->began(m, t);
    reading_begin(m, t);
    progress_touch(&m->progress);
}

void
running_take(struct manager *m, struct trial *t)
{
    if (live_add(m, t) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
    origin_pin(&m->checkpoints, t);
    placing_add(m, t);
    running_start_waiting(m);
}

/* One that has failed before, and is not tried again any more, has failed. */
static void
give_up(struct manager *m, struct trial *t)
{
    running_enter(m, t, t->failures > 0 ? TRIAL_FAILED : TRIAL_CANCELLED);
    running_conclude(m, t);
}

/* May free t. */
static void
offer(struct manager *m, struct trial *t)
{
    char why[300];

    if (placing_try(m, t, why, sizeof why) == PLACING_NOW)
        start(m, t);
}

void
running_start_waiting(struct manager *m)
{
    struct link *at = m->placing.trials.first, *next;

    if (!m->placing.stirred)
        return;
    m->placing.stirred = false;
    for (; at != NULL; at = next) {
        struct trial *t = at->of;

        next = at->next;
        if (m->end_known && (m->outcome->end > MANAGER_DURATION ||
                             (t->past.cut_off && m->scheduler.paused)))
            running_leave(m, t); /* the experiment is not over */
        else if (m->end_known && !t->past.cut_off)
            give_up(m, t);
        else if (placing_prepares(m, t))
            preparing_offer(m, t);
        else if (m->n_running >= m->scheduler.concurrency &&
                 m->x->prepare_command == NULL)
            break; /* there is no place for anybody */
        else
            offer(m, t);
    }
}

static void
run_exited(struct manager *m, struct trial *t)
{
    struct err err = {0};
    struct run_end end;

    if (run_end(&t->run, &end, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    t->outcome = end.outcome;
    for (int kind = 0; kind < TRIAL_DUES; kind++)
        deadlines_drop(&m->deadlines, &t->due[kind]);
    running_ended(m, t);
    placing_release(m, t);
    if (running_unbegun(m, t, &end))
        return;
    running_step(m, t, TRIAL_ON_EXIT);
    resources_learn(&m->resources, t);
    if (t->past.restored && t->outcome.alone && running_unseen(m, t))
        t->stop = STOP_INTERRUPT; /* as of a trial whose wrapper is gone when
                                     this manager comes: see restore.c */
    if (t->past.restored && running_in_vain(m, t))
        running_restart_or_leave(m, t);
    else
        running_finish(m, t);
}

static void
copied(struct manager *m, struct trial *t)
{
    copying_exited(m, t);
    placing_wake(m);
}

void
running_exited(struct manager *m, struct trial *t)
{
    static void (*const exits[TRIAL_STATES])(struct manager *,
                                             struct trial *) = {
        [TRIAL_COPYING] = copied,
        [TRIAL_PREPARING] = preparing_exited,
        [TRIAL_RUNNING] = run_exited,
    };

    exits[t->state](m, t);
}

/* That is a start that failed, and no attempt. */
bool
running_unbegun(struct manager *m, struct trial *t, const struct run_end *end)
{
    struct err err = {.code = ERR_SYSTEM, .number = EAGAIN};
    struct trial *next;

    if (!end->unbegun || t->stop != STOP_NOT || t->past.end_told ||
        t->past.recorded || (next = running_next(m, t)) == NULL)
        return false;
    next->attempt = t->attempt;
    next->past.cut_off = t->past.cut_off;
    next->offers = t->offers;
    next->place_until_ns = t->place_until_ns;
    snprintf(err.text, sizeof err.text, "%s",
             end->outcome.text[0] != '\0' ? end->outcome.text
                                          : "its wrapper could not begin");
    running_replace(m, t, next);
    placing_again(m, next, &err); /* EAGAIN passes: it is offered again */
    return true;
}

/* Nobody has judged it, and it has no result that anybody knows of. */
static bool
is_open(const struct trial *t)
{
    return !t->past.end_told && !t->past.recorded && trial_undecided(t) &&
           !t->final.given && t->past.told.finals == 0;
}

bool
running_in_vain(const struct manager *m, const struct trial *t)
{
    if (!is_open(t))
        return false;
    if (t->stop == STOP_INTERRUPT)
        return m->delivery->repeats; /* else its files may hold a result */
    return outcome_is_moot(&t->outcome);
}

bool
running_unseen(const struct manager *m, const struct trial *t)
{
    const struct outcome *o = &t->outcome;

    return !m->delivery->repeats && is_open(t) && t->stop == STOP_NOT &&
           o->kind != OUTCOME_LOST && !o->abandoned && outcome_by_signal(o);
}

bool
running_unwitnessed(const struct manager *m, const struct trial *t)
{
    return running_in_vain(m, t) || (is_open(t) && t->stop == STOP_NOT &&
                                     outcome_by_signal(&t->outcome));
}

struct trial *
running_next(const struct manager *m, const struct trial *t)
{
    struct trial *next = trial_new(t->number, t->record, t->record_len,
                                   t->parameter_id, t->parameters);

    if (next == NULL)
        return NULL;
    next->attempt = t->attempt + 1;
    next->failures = t->failures;
    next->postponed_stop = t->postponed_stop;
    next->origin = t->origin;
    next->earlier = t->latest.given ? t->latest : t->earlier;
    if (m->delivery->repeats) /* it is heard where this one was */
        next->past.told = (struct metrics_count){
            t->sent > t->past.told.intermediates ? t->sent
                                                 : t->past.told.intermediates,
            t->past.told.finals};
    return next;
}

void
running_replace(struct manager *m, struct trial *t, struct trial *next)
{
    lockstep_retract(&m->lockstep, t->number);
    m->delivery->began(m, next); /* a round waits for it, whoever began that */
    count_slot(m, t->state, -1);
    attempt_ends_tell(&m->ends, &(struct attempt_end){.how = ATTEMPT_REPLACED,
                                                      .trial = t,
                                                      .seconds = seconds_of(t),
                                                      .next = next});
    if (live_replace(m, t, next) != 0) /* its place is kept */
        manager_end(m, MANAGER_UNABLE, "out of memory");
    trial_free(t);
    placing_add(m, next);
}

void
running_restart_or_leave(struct manager *m, struct trial *t)
{
    struct trial *next;

    if (m->interrupting) {
        running_leave(m, t);
        return;
    }
    next = running_next(m, t);
    if (next == NULL) {
        manager_end(m, MANAGER_UNABLE, "out of memory");
        running_leave(m, t); /* whoever resumes starts it again */
        return;
    }
    next->past.cut_off = true;
    m->recovered.again++;
    running_replace(m, t, next);
}

void
running_finish(struct manager *m, struct trial *t)
{
    if (t->due[TRIAL_DUE_JUDGE].place == 0 || t->stop != STOP_NOT)
        m->delivery->exited(m, t);
    /* Else called again when that is over. */
}

/* False: its result is known, or nothing is started any more.  Frees t. */
static bool
again_with_more(struct manager *m, struct trial *t)
{
    struct trial *next;

    if (t->final.given || t->past.told.finals > 0 || m->end_known)
        return false;
    next = running_next(m, t);
    if (next == NULL)
        return false;
    progress_say(&m->progress, "trial %s %s; tried again with more", t->id,
                 t->why);
    m->recovered.again++;
    running_replace(m, t, next);
    return true;
}

static void
note_exit(struct manager *m, const struct trial *t, enum trial_state state)
{
    const struct outcome *o = &t->outcome;
    char status[64];

    if (state == TRIAL_INTERRUPTED)
        snprintf(status, sizeof status, "%s", STATUS_INTERRUPTED);
    else if (o->kind == OUTCOME_LOST)
        snprintf(status, sizeof status, "lost");
    else
        snprintf(status, sizeof status, "%s %d",
                 o->kind == OUTCOME_EXITED      ? "exited"
                 : o->kind == OUTCOME_SIGNALLED ? "signalled"
                                                : "unstarted",
                 o->number);
    if (!t->past.end_told)
        manager_send_note(m, "exited", t,
                          (struct event_field[]){EVENT_TEXT("status", status),
                                                 EVENT_FIELDS_END});
}

bool
running_end(struct manager *m, struct trial *t)
{
    bool more = false;
    enum trial_state state;

    reading_promote(m, t, &t->outcome);
    state = trial_judge(t, &t->outcome);
    if (state == TRIAL_FAILED && t->past.end == TRIAL_WAITING &&
        resources_failed(&m->resources, t, &more))
        state = TRIAL_OUT_OF_MEMORY;
    if (t->past.end != TRIAL_WAITING &&
        (state == TRIAL_INTERRUPTED ||
         strcmp(trial_event_name(state), trial_event_name(t->past.end)) != 0))
        state = t->past.end; /* as it was told, or recorded */
    note_exit(m, t, state);
    if (state == TRIAL_INTERRUPTED) {
        running_restart_or_leave(m, t); /* with the next manager, or this one */
        return false;
    }
    if (more && again_with_more(m, t))
        return false;
    if (failing_again(m, t, state, seconds_of(t)))
        return false;
    running_enter(m, t, state);
    running_conclude(m, t);
    return true;
}

/* ---- stopped ---- */

#define GIVE_UP_NS 5000000000 /* for a wrapper, behind its grace */
/* A trial that a signal ended so shortly before one came to its manager had the
 * same one. */
#define SAME_SIGNAL_NS 2000000000

/* How much of what was read counts.  A trial that goes on beyond its budget is
 * stopped on the dot, however much it had reported by the time. */
static struct metrics_count
count_before(const struct manager *m, const struct trial *t)
{
    struct metrics_count n = m->delivery->counted(m, t);

    if (trial_stops_well(t) && t->reached.given &&
        n.intermediates > t->reached_at + 1)
        n.intermediates = t->reached_at + 1;
    return n;
}

/* So that another manager knows what counts and what does not. */
static void
record_stop(struct manager *m, struct trial *t, enum trial_stop stop)
{
    char *path = file_join(t->folder, TRIAL_STOP);
    char line[80];
    int len;

    t->stop = stop;
    t->counted = count_before(m, t);
    if (trial_stops_well(t) && t->reached.given)
        t->latest = t->reached;
    len = snprintf(line, sizeof line, "%s %llu %llu\n", trial_stop_name(stop),
                   (unsigned long long)t->counted.intermediates,
                   (unsigned long long)t->counted.finals);
    if (path != NULL)
        file_write(path, line, (size_t)len, NULL);
    free(path);
    if (trial_stop_is_decided(stop))
        publish_decision(m, t);
}

/* Once: a second SIGTERM would end the grace that the first one began. */
static void
terminate(struct manager *m, struct trial *t)
{
    if (t->due[TRIAL_DUE_KILL].place > 0)
        return;
    running_due(m, t, TRIAL_DUE_TERM, INT64_MAX);
    running_due(m, t, TRIAL_DUE_KILL,
                clock_monotonic_ns() + m->x->grace_ms * 1000000 + GIVE_UP_NS);
    run_stop(t->run, RUN_TERMINATE);
}

/* It does not run, or not yet again; frees t. */
static void
settle(struct manager *m, struct trial *t, enum trial_stop stop)
{
    t->stop = stop;
    if (stop == STOP_FINISH)
        reading_finish(m, t);
    if (!t->latest.given)
        t->latest = t->earlier;
    running_enter(m, t, trial_judge(t, &t->outcome));
    running_conclude(m, t);
}

/* Nobody is told an end; where a signal had ended it, that was the manager's,
 * too, and whoever resumes finds it so.  Frees t. */
static void
leave(struct manager *m, struct trial *t)
{
    if (t->due[TRIAL_DUE_JUDGE].place > 0 && t->stop == STOP_NOT)
        record_stop(m, t, STOP_INTERRUPT);
    running_leave(m, t);
}

/* Whether a reason to end comes too late for one that runs, or has run: it said
 * before that it is done; or its next attempt is told so, at the same place. */
static bool
is_late(const struct manager *m, const struct trial *t)
{
    return t->state != TRIAL_PREPARING &&
           ((t->done && m->delivery->immediate) ||
            (t->stop == STOP_INTERRUPT && m->delivery->repeats));
}

/* The end of one that has exited is not known to anybody yet: the user's word
 * counts, who does not wait for a dispatcher that is slow or hangs, and what
 * the last report that is not answered yet leads to. */
static bool
counts(const struct manager *m, const struct trial *t, enum trial_stop stop)
{
    return !trial_exited(t) ||
           (!t->past.end_told && !t->past.recorded &&
            (stop != STOP_ASSESSOR || m->delivery->hears_late(t)));
}

/* Whether what the trial has reported, and nobody has read, is read before it
 * is stopped.  Not so in lock step for the assessor's decision, which is about
 * what was told, nor for an interruption, as the next attempt repeats the
 * reports. */
static bool
is_read_first(const struct manager *m, enum trial_stop stop)
{
    return m->delivery->immediate ||
           (stop != STOP_INTERRUPT && stop != STOP_ASSESSOR);
}

void
running_stop(struct manager *m, struct trial *t, enum trial_stop stop)
{
    enum trial_event event = trial_event_of(stop);
    unsigned effects = trial_step(t, event).effects;

    if (m->delivery->postpones(t, stop))
        return;
    if (effects & TRIAL_TERMINATE)
        terminate(m, t);
    if ((effects & TRIAL_FEED) && !is_late(m, t) && is_read_first(m, stop)) {
        reading_feed(m, t);
        effects = trial_step(t, event).effects; /* it may have ended by that */
    }
    if ((effects & TRIAL_RECORD) && is_late(m, t))
        return;
    if ((effects & TRIAL_RECORD) && counts(m, t, stop))
        record_stop(m, t, stop);
    if (effects & TRIAL_HALT)
        m->delivery->stopped(m, t);
    if (effects & TRIAL_PRESS)
        running_press(m, t);
    if (effects & TRIAL_SETTLE)
        settle(m, t, stop);
    if (effects & TRIAL_CONCLUDE) {
        running_enter(m, t, TRIAL_CANCELLED);
        running_conclude(m, t);
    }
    if (effects & TRIAL_LEAVE)
        leave(m, t);
}

void
running_defied(struct manager *m, struct trial *t)
{
    if (trial_step(t, TRIAL_ON_DEFIANCE).effects & TRIAL_TERMINATE)
        terminate(m, t);
}

void
running_done(struct manager *m, struct trial *t)
{
    t->done = true;
    running_due(m, t, TRIAL_DUE_LIMIT, INT64_MAX);
    running_due(m, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (trial_step(t, TRIAL_ON_DONE).effects & TRIAL_TERMINATE)
        terminate(m, t);
}

/* Whoever waits to be told so is, and ends within the grace.  So does who knows
 * its budget; who does not is seen by what it reports behind it. */
static bool
ends_by_itself(const struct manager *m, const struct trial *t)
{
    if (trial_stops_well(t))
        return reading_count(m, t).intermediates <= t->counted.intermediates;
    return t->stop == STOP_ASSESSOR && unanswered_hears(&t->unanswered);
}

void
running_press(struct manager *m, struct trial *t)
{
    running_due(m, t, TRIAL_DUE_LIMIT, INT64_MAX);
    running_due(m, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (ends_by_itself(m, t))
        running_due(m, t, TRIAL_DUE_TERM,
                    clock_monotonic_ns() + m->x->grace_ms * 1000000);
    else
        terminate(m, t);
    unanswered_answer_all(&t->unanswered, trial_answer(t));
}

void
running_press_late(struct manager *m, struct trial *t)
{
    if (t->stop == STOP_INTERRUPT) /* a second SIGTERM would end its grace */
        running_due(m, t, TRIAL_DUE_TERM,
                    clock_monotonic_ns() + m->x->grace_ms * 1000000);
    else
        running_press(m, t);
}

void
running_interrupt_all(struct manager *m)
{
    struct trial *t, *next;

    if (m->interrupting)
        return; /* a second SIGTERM would end the grace */
    m->interrupting = true;
    for (t = m->live; t != NULL; t = next) {
        next = t->next;
        running_stop(m, t, STOP_INTERRUPT);
    }
}

/* A signal that ended the trial was meant for its manager, too, should it come
 * there: as at the end of a batch job or of a terminal. */
void
running_ended(struct manager *m, struct trial *t)
{
    t->ended_ns = clock_monotonic_ns();
    if (t->stop == STOP_NOT && !m->interrupting && !t->past.end_told &&
        !t->past.recorded && !t->done && outcome_by_signal(&t->outcome))
        running_due(m, t, TRIAL_DUE_JUDGE, t->ended_ns + SAME_SIGNAL_NS);
}

/* A second SIGTERM ends the wrapper's grace. */
void
running_hurry_all(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING) {
            running_due(m, t, TRIAL_DUE_TERM, INT64_MAX);
            running_due(m, t, TRIAL_DUE_KILL,
                        clock_monotonic_ns() + GIVE_UP_NS);
            run_stop(t->run, RUN_TERMINATE);
        }
}

static void
limit_over(void *ctx, void *of)
{
    running_stop(ctx, of, STOP_TIMEOUT);
}

/* Set when it was started: what it has reported since has moved it. */
static void
idle_over(void *ctx, void *of)
{
    struct manager *m = ctx;
    struct trial *t = of;
    int64_t now = clock_monotonic_ns();
    int64_t most = m->x->max_idle_ms * 1000000;

    if (reading_waits(m, t))
        t->reported_ns = now;
    else if (now >= t->reported_ns + most)
        reading_feed(m, t); /* what its file holds counts */
    if (t->state != TRIAL_RUNNING || t->stop != STOP_NOT || t->done)
        return;
    if (now >= t->reported_ns + most)
        running_stop(m, t, STOP_IDLE);
    else
        running_due(m, t, TRIAL_DUE_IDLE, t->reported_ns + most);
}

static void
patience_over(void *ctx, void *of)
{
    terminate(ctx, of);
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
    (void)of;
    placing_wake(ctx);
}

static void
no_signal_came(void *ctx, void *of)
{
    running_finish(ctx, of);
}

static void
watch_again(void *ctx, void *of)
{
    struct trial *t = of;

    if (t->run->runner->ops->watch(t->run) != 0)
        running_due(ctx, t, TRIAL_DUE_WATCH,
                    clock_monotonic_ns() + WATCH_PAUSE_NS);
}

static void
place_given_up(void *ctx, void *of)
{
    struct manager *m = ctx;
    struct trial *t = of;
    char why[600];

    if (t->due[TRIAL_DUE_OFFER].place == 0)
        return; /* it waits for something else by now */
    snprintf(why, sizeof why,
             "it could not be started within %.0f s "
             "(placeTimeout): %.450s",
             (double)m->x->place_ms / 1e3, t->why);
    running_unplaced(m, t, why);
}

void
running_due(struct manager *m, struct trial *t, int kind, int64_t at_ns)
{
    static deadline_due *const dues[TRIAL_DUES] = {
        [TRIAL_DUE_LIMIT] = limit_over,     [TRIAL_DUE_IDLE] = idle_over,
        [TRIAL_DUE_TERM] = patience_over,   [TRIAL_DUE_KILL] = wrapper_given_up,
        [TRIAL_DUE_AGAIN] = offer_again,    [TRIAL_DUE_OFFER] = offer_again,
        [TRIAL_DUE_PLACE] = place_given_up, [TRIAL_DUE_JUDGE] = no_signal_came,
        [TRIAL_DUE_WATCH] = watch_again,
    };
    struct deadline *d = &t->due[kind];

    d->due = dues[kind];
    d->of = t;
    if (deadlines_set(&m->deadlines, d, at_ns) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
}
