/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/ending.h"
#include "manager/reading.h"
#include "manager/stepping.h"
#include "manager/trial.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define LAUNCHES_FAILED_MAX 3
#define GIVE_UP_NS 5000000000 /* for a wrapper, behind its grace */

static void
set_deadline(struct manager *m, struct trial *t)
{
    t->started_ns = clock_monotonic_ns();
    if (m->x->max_trial_ms > 0)
        t->deadline_ns = t->started_ns + m->x->max_trial_ms * 1000000;
}

/* The end, whatever kind it is: told, recorded, shown; t is freed. */
static void
conclude(struct manager *m, struct trial *t)
{
    int64_t until = t->exited ? t->ended_ns : clock_monotonic_ns();
    int64_t lasted = t->started_ns == 0 ? 0 : until - t->started_ns;
    double seconds = (double)lasted / 1e9;
    struct err err = {0};
    struct trial **link = &m->live;

    ending_send(m, t);
    if (experiment_folder_add_result(&m->folder, t, seconds, &err) != 0)
        manager_end(m, MANAGER_UNABLE, "%s", err.text);
    scheduler_ended(&m->scheduler);
    m->trials_ns += lasted;
    ending_show(m, t, seconds);
    reading_end(m, t);
    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
    trial_free(t);
}

static void
start(struct manager *m, struct trial *t)
{
    struct err err = {0};
    char detail[64];

    if (launch_trial(&m->launch, t, &err) != 0) {
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
        trial_enter(t, TRIAL_FAILED);
        if (++m->launches_failed >= LAUNCHES_FAILED_MAX)
            manager_end(m, MANAGER_UNABLE, "trials cannot be started: %s",
                        err.text);
        conclude(m, t);
        return;
    }
    m->launches_failed = 0;
    trial_enter(t, TRIAL_RUNNING);
    m->n_running++;
    set_deadline(m, t);
    if (manager_watch(m, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) != 0)
        manager_end(m, MANAGER_UNABLE, "cannot watch a trial");
    snprintf(detail, sizeof detail, "\"pid\": %d", (int)t->pid);
    manager_note(m, "started", t, detail);
    if (m->lockstep.on)
        stepping_started(m, t);
    reading_begin(m, t);
    progress_touch(&m->progress);
}

void
running_take(struct manager *m, struct trial *t)
{
    struct trial **link = &m->live;

    while (*link != NULL)
        link = &(*link)->next;
    *link = t;
    if (!m->lockstep.on)
        running_start_waiting(m);
}

void
running_start_waiting(struct manager *m)
{
    struct trial *t = m->live, *next;

    for (; t != NULL; t = next) {
        next = t->next;
        if (t->state != TRIAL_WAITING)
            continue;
        if (m->end_known) {
            trial_enter(t, TRIAL_CANCELLED);
            conclude(m, t);
        } else if (m->n_running < m->x->concurrency) {
            start(m, t);
        }
    }
}

void
running_exited(struct manager *m, struct trial *t)
{
    struct err err = {0};
    siginfo_t info = {0};

    waitid(P_PIDFD, (id_t)t->pidfd, &info, WEXITED);
    manager_unwatch(m, t->pidfd);
    t->exited = true; /* from here on its process id may be a stranger's */
    t->deadline_ns = t->term_ns = t->kill_ns = INT64_MAX;
    t->ended_ns = clock_monotonic_ns();
    if (outcome_read(t->folder, &t->outcome, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    running_finish(m, t);
}

void
running_finish(struct manager *m, struct trial *t)
{
    if (m->lockstep.on)
        stepping_exited(m, t); /* it ends when it is its turn */
    else if (reading_drain(m, t))
        running_end(m, t);
    /* Else called again when the dispatcher has room. */
}

void
running_end(struct manager *m, struct trial *t)
{
    const struct outcome *o = &t->outcome;
    char detail[64];

    reading_promote(m, t, o);
    trial_enter(t, trial_judge(t, o));
    m->n_running--;
    if (o->kind == OUTCOME_LOST)
        snprintf(detail, sizeof detail, "\"status\": \"lost\"");
    else
        snprintf(detail, sizeof detail, "\"status\": \"%s %d\"",
                 o->kind == OUTCOME_EXITED      ? "exited"
                 : o->kind == OUTCOME_SIGNALLED ? "signalled"
                                                : "unstarted",
                 o->number);
    manager_note(m, "exited", t, detail);
    conclude(m, t);
}

static void
terminate(struct manager *m, struct trial *t)
{
    t->term_ns = INT64_MAX;
    t->kill_ns = clock_monotonic_ns() + m->x->grace_ms * 1000000 + GIVE_UP_NS;
    kill(t->pid, SIGTERM);
}

/* Whoever waits to be told so is, and ends by itself within the grace. */
static void
tell_to_end(struct manager *m, struct trial *t)
{
    if (t->stop == STOP_ASSESSOR && holding_hears(&t->holding))
        t->term_ns = clock_monotonic_ns() + m->x->grace_ms * 1000000;
    else
        terminate(m, t);
    holding_answer_all(&t->holding, true);
}

void
running_stop(struct manager *m, struct trial *t, int stop)
{
    if (t->state == TRIAL_RUNNING && stop == STOP_CANCEL &&
        t->term_ns != INT64_MAX)
        terminate(m, t); /* the user has no grace for it */
    if (t->state != TRIAL_RUNNING || t->stop != STOP_NOT)
        return;
    if (t->exited) {
        /* Its end is not known to anybody yet: only the user's word counts,
         * who does not wait for a dispatcher that is slow or hangs. */
        if (stop == STOP_CANCEL || m->lockstep.on)
            t->stop = (enum trial_stop)stop;
        if (m->lockstep.on)
            stepping_stopped(m, t);
        return;
    }
    reading_feed(m, t); /* what it reported before still counts */
    t->stop = (enum trial_stop)stop;
    t->deadline_ns = INT64_MAX;
    if (m->lockstep.on && stop == STOP_ASSESSOR)
        stepping_stopped(m, t);
    tell_to_end(m, t);
}

void
running_stop_all(struct manager *m)
{
    stepping_release(m);
    for (struct trial *t = m->live; t != NULL; t = t->next)
        running_stop(m, t, STOP_CANCEL);
    running_start_waiting(m);
}

/* A second SIGTERM ends the wrapper's grace. */
void
running_hurry_all(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING && !t->exited) {
            t->term_ns = INT64_MAX;
            t->kill_ns = clock_monotonic_ns() + GIVE_UP_NS;
            kill(t->pid, SIGTERM);
        }
}

void
running_expire(struct manager *m, int64_t now_ns)
{
    for (struct trial *t = m->live; t != NULL; t = t->next) {
        if (now_ns >= t->deadline_ns)
            running_stop(m, t, STOP_TIMEOUT);
        if (now_ns >= t->term_ns)
            terminate(m, t);
        if (now_ns >= t->kill_ns) {
            t->kill_ns = INT64_MAX;
            kill(t->pid, SIGKILL);
        }
    }
}

int64_t
running_deadline(const struct manager *m)
{
    int64_t nearest = INT64_MAX;

    for (const struct trial *t = m->live; t != NULL; t = t->next) {
        if (t->deadline_ns < nearest)
            nearest = t->deadline_ns;
        if (t->term_ns < nearest)
            nearest = t->term_ns;
        if (t->kill_ns < nearest)
            nearest = t->kill_ns;
    }
    return nearest;
}
