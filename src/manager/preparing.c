/* SPDX-License-Identifier: MIT */
#include "manager/preparing.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/delivery.h"
#include "manager/publish.h"
#include "manager/origin.h"
#include "manager/reading.h"
#include "manager/placing.h"
#include "manager/state.h"
#include "manager/trial_step.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t
preparing_ahead(const struct experiment *x)
{
    if (x->prepare_command == NULL || x->deterministic)
        return 0;
    return x->prepare_concurrency > 0 ? x->prepare_concurrency : x->concurrency;
}

/* `began_ns`: monotonic, when prepareCommand did. */
static void
enter(struct manager *m, struct trial *t, int64_t began_ns)
{
    int64_t most_ms =
        m->x->max_prepare_ms > 0 ? m->x->max_prepare_ms : m->x->max_trial_ms;

    running_step(m, t, TRIAL_ON_PREPARE);
    if (most_ms > 0)
        running_due(m, t, TRIAL_DUE_LIMIT, began_ns + most_ms * 1000000);
    running_watch(m, t);
    manager_send_note(
        m, "preparing", t,
        (struct event_field[]){EVENT_COUNT("pid", (uint64_t)run_pid(t->run)),
                               EVENT_FIELDS_END});
    m->delivery->began(m, t);
}

void
preparing_offer(struct manager *m, struct trial *t)
{
    struct err err = {0};
    char why[300];

    if (placing_try(m, t, why, sizeof why) != PLACING_NOW)
        return;
    placing_clear(m, t);
    if (launch_prepare(&m->launch, t, &err) != 0) {
        running_unstarted(m, t, &err);
        return;
    }
    placing_done(m, t);
    m->launches_failed = 0;
    origin_unpin(&m->checkpoints, &m->progress, t);
    enter(m, t, clock_monotonic_ns());
    publish_trial(m, EVENT_TRIAL_PREPARING, t);
}

static void
time_end(struct trial *t, const struct outcome *o)
{
    if (o->started_ns > 0 && o->ended_ns >= o->started_ns)
        t->prepare_ns = o->ended_ns - o->started_ns;
}

static bool
is_good(const struct trial *t, const struct outcome *o)
{
    return t->stop == STOP_NOT && o->kind == OUTCOME_EXITED && o->number == 0;
}

static void
prepared(struct manager *m, struct trial *t)
{
    running_step(m, t, TRIAL_ON_PREPARED);
    placing_add(m, t);
}

/* Its run never begins: it has taken no time. */
static void
ended(struct manager *m, struct trial *t, const struct outcome *outcome)
{
    t->outcome = *outcome;
    t->outcome.started_ns = 0;
    running_ended(m, t);
}

void
preparing_exited(struct manager *m, struct trial *t)
{
    struct err err = {0};
    struct run_end end;

    if (run_end(&t->run, &end, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    time_end(t, &end.outcome);
    for (int kind = 0; kind < TRIAL_DUES; kind++)
        deadlines_drop(&m->deadlines, &t->due[kind]);
    placing_release(m, t);
    if (running_unbegun(m, t, &end))
        return;
    if (is_good(t, &end.outcome)) {
        prepared(m, t);
        publish_trial(m, EVENT_TRIAL_PREPARED, t);
        running_start_waiting(m);
        return;
    }
    ended(m, t, &end.outcome);
    running_step(m, t, TRIAL_ON_EXIT);
    if (t->past.restored && running_in_vain(m, t))
        running_restart_or_leave(m, t);
    else
        running_finish(m, t);
}

/* ---- going on ---- */

static bool
has(const struct trial *t, const char *name)
{
    char *path = file_join(t->folder, name);
    bool there = path != NULL && access(path, F_OK) == 0;

    free(path);
    return there;
}

/* As the phase told at its end, while no manager lived. */
static void
read_end(struct trial *t, struct outcome *out)
{
    char *folder = file_join(t->folder, TRIAL_PREPARE);
    struct err err = {0};

    *out = (struct outcome){.kind = OUTCOME_LOST};
    if (folder != NULL && outcome_read(folder, out, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    free(folder);
    time_end(t, out);
}

/* prepareCommand does not run any more. */
static void
restore_ended(struct manager *m, struct trial *t, const struct outcome *outcome)
{
    running_step(m, t, TRIAL_ON_PREPARE);
    running_step(m, t, TRIAL_ON_EXIT);
    ended(m, t, outcome);
    if (outcome->kind == OUTCOME_LOST)
        launch_clear(&m->launch, t, true);
    if (running_unwitnessed(m, t)) {
        running_restart_or_leave(m, t);
        return;
    }
    m->recovered.finished++;
    m->delivery->began(m, t);
    unread_add(m, t); /* settle() ends it */
}

bool
preparing_restore(struct manager *m, struct trial *t)
{
    struct outcome outcome;
    bool run;

    if (m->x->prepare_command == NULL || !has(t, TRIAL_PREPARE))
        return false;
    run = has(t, TRIAL_COMMAND);
    if (!run && launch_adopt(&m->launch, t, true)) {
        m->recovered.adopted++;
        resources_adopt(&m->resources, t);
        enter(m, t, t->run->started_ns);
        if (t->stop != STOP_NOT)
            running_press_late(m, t);
        return true;
    }
    read_end(t, &outcome);
    if (run)
        return false;
    if (!is_good(t, &outcome)) {
        restore_ended(m, t, &outcome);
        return true;
    }
    m->recovered.adopted++;
    running_step(m, t, TRIAL_ON_PREPARE);
    m->delivery->began(m, t);
    prepared(m, t);
    return true;
}
