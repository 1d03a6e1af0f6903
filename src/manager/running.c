/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/coordinator.h"
#include "manager/delivery.h"
#include "manager/ending.h"
#include "manager/failing.h"
#include "manager/copying.h"
#include "manager/happened.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/orphans.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/reading.h"
#include "manager/resume_log.h"
#include "manager/trial_step.h"
#include "trial/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define LAUNCHES_FAILED_MAX 3

void
running_since(struct manager *m, struct trial *t, int64_t started_ns)
{
    t->started_ns = started_ns;
    t->reported_ns = clock_monotonic_ns();
    finish_began(&m->finish, started_ns);
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

    if (manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) == 0)
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
    if (end->how != ATTEMPT_REPLACED)
        m->trials_ns += (int64_t)(end->seconds * 1e9);
    if (end->how == ATTEMPT_JUDGED && !trial_exited(t))
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
        EVENT_COUNT("pid", (uint64_t)t->pid),
        EVENT_TEXT("device", t->claim.devices == 0
                                 ? NULL
                                 : claim_devices(t->claim.devices, devices,
                                                 sizeof devices)),
        EVENT_FIELDS_END};

    manager_note(m, "started", t, detail);
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
    origin_settled(m, t, true);
    running_step(m, t, TRIAL_ON_RUN);
    running_since(m, t, clock_monotonic_ns());
    running_watch(m, t);
    note_start(m, t);
    happened_trial(m, EVENT_TRIAL_STARTED, t);
    m->delivery->began(m, t);
    reading_begin(m, t);
    progress_touch(&m->progress);
}

void
running_take(struct manager *m, struct trial *t)
{
    if (live_add(m, t) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
    origin_taken(m, t);
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
    siginfo_t info = {0};

    if (outcome_read(t->folder, &t->outcome, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    if (t->outcome.kind == OUTCOME_LOST)
        orphans_kill(t->folder, t->pid);
    waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED);
    manager_unwatch(m, t->pidfd);
    for (int kind = 0; kind < TRIAL_DUES; kind++)
        deadlines_drop(&m->deadlines, &t->due[kind]);
    running_ended(m, t); /* its process id may be a stranger's from now on */
    placing_release(m, t);
    if (running_unbegun(m, t, &t->outcome, &info))
        return;
    running_step(m, t, TRIAL_ON_EXIT);
    resources_learn(&m->resources, t);
    if (t->past.restored && t->outcome.alone && running_unseen(m, t))
        t->stop = STOP_INTERRUPT; /* as of a trial whose wrapper is gone when
                                     this manager comes: see restore.c */
    if (t->past.restored && running_in_vain(m, t))
        running_again(m, t);
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
running_unbegun(struct manager *m, struct trial *t,
                const struct outcome *outcome, const siginfo_t *info)
{
    struct err err = {.code = ERR_SYSTEM, .number = EAGAIN};
    struct trial *next;

    if (outcome->kind != OUTCOME_LOST || info->si_code != CLD_EXITED ||
        info->si_status != TRIAL_WRAPPER_LATER || t->stop != STOP_NOT ||
        t->past.end_told || t->past.recorded ||
        (next = running_next(m, t)) == NULL)
        return false;
    next->attempt = t->attempt;
    next->past.cut_off = t->past.cut_off;
    next->offers = t->offers;
    next->place_until_ns = t->place_until_ns;
    snprintf(err.text, sizeof err.text, "%s",
             outcome->text[0] != '\0' ? outcome->text
                                      : "its wrapper could not begin");
    running_replace(m, t, next);
    return placing_again(m, next, &err);
}

/* Nobody has judged it, and it has no result that anybody knows of. */
static bool
is_open(const struct trial *t)
{
    return !t->past.end_told && !t->past.recorded && trial_unjudged(t) &&
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
    next->stop_again = t->stop_again;
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
running_again(struct manager *m, struct trial *t)
{
    struct trial *next;

    if (m->interrupting) {
        running_leave(m, t);
        return;
    }
    next = running_next(m, t);
    if (next == NULL) {
        running_finish(m, t);
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
        manager_note(m, "exited", t,
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
        strcmp(trial_event_name(state), trial_event_name(t->past.end)) != 0)
        state = t->past.end; /* as it was told, or recorded */
    note_exit(m, t, state);
    if (state == TRIAL_INTERRUPTED) {
        running_again(m, t); /* with the next manager, or this one */
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
