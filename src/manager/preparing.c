/* SPDX-License-Identifier: MIT */
#include "manager/preparing.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "manager/attempts.h"
#include "manager/blame.h"
#include "manager/delivery.h"
#include "manager/dues.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/placing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/reading.h"
#include "manager/resources.h"
#include "manager/running.h"
#include "runner/runner.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t
preparing_ahead(const struct experiment *x)
{
    if (x->prepare_command.text == NULL || x->deterministic)
        return 0;
    return x->prepare_concurrency > 0 ? x->prepare_concurrency : x->concurrency;
}

void
preparing_begun(struct preparing *p, struct trial *t, int64_t began_ns)
{
    int64_t most_ms =
        p->x->max_prepare_ms > 0 ? p->x->max_prepare_ms : p->x->max_trial_ms;

    if (most_ms > 0 && !t->run->queued)
        dues_set(p->dues, t, TRIAL_DUE_LIMIT, began_ns + most_ms * 1000000);
}

static void
enter(struct preparing *p, struct trial *t, int64_t began_ns)
{
    live_step(p->live, t, TRIAL_ON_PREPARE);
    preparing_begun(p, t, began_ns);
    running_watch(p->running, t);
    attempts_note(
        p->attempts, "preparing", t,
        (struct event_field[]){EVENT_COUNT("pid", (uint64_t)run_pid(t->run)),
                               EVENT_FIELDS_END});
    p->delivery->ops->began(p->delivery, t);
}

void
preparing_offer(struct preparing *p, struct trial *t)
{
    struct err err = {0};
    char why[300];

    if (placing_try(p->placing, t, why, sizeof why) != PLACING_NOW)
        return;
    placing_clear(p->placing, t);
    if (launch_prepare(p->launch, t, &err) != 0) {
        attempts_unstarted(p->attempts, t, &err);
        return;
    }
    placing_done(p->placing, t);
    origin_unpin(p->checkpoints, p->progress, t);
    enter(p, t, clock_monotonic_ns());
    publish_trial(p->publish, EVENT_TRIAL_PREPARING, t);
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
prepared(struct preparing *p, struct trial *t)
{
    live_step(p->live, t, TRIAL_ON_PREPARED);
    placing_add(p->placing, t);
}

/* Its run never begins: it has taken no time. */
static void
ended(struct preparing *p, struct trial *t, const struct outcome *outcome)
{
    t->outcome = *outcome;
    t->outcome.started_ns = 0;
    attempts_ended(p->attempts, t);
}

void
preparing_exited(struct preparing *p, struct trial *t)
{
    struct err err = {0};
    struct run_end end;

    if (run_end(&t->run, &end, &err) != 0)
        snprintf(t->why, sizeof t->why, "%.500s", err.text);
    time_end(t, &end.outcome);
    dues_drop(p->dues, t);
    placing_release(p->placing, t);
    blame_run_end(p->blame, &end);
    if (attempts_unbegun(p->attempts, t, &end))
        return;
    if (is_good(t, &end.outcome)) {
        prepared(p, t);
        publish_trial(p->publish, EVENT_TRIAL_PREPARED, t);
        return;
    }
    ended(p, t, &end.outcome);
    live_step(p->live, t, TRIAL_ON_EXIT);
    if (running_is_cut(p->running, t, &end) ||
        (t->past.restored && attempts_in_vain(p->attempts, t)))
        attempts_restart_or_leave(p->attempts, t);
    else
        running_finish(p->running, t);
}

/* ---- going on ---- */

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
restore_ended(struct preparing *p, struct trial *t,
              const struct outcome *outcome)
{
    live_step(p->live, t, TRIAL_ON_PREPARE);
    live_step(p->live, t, TRIAL_ON_EXIT);
    ended(p, t, outcome);
    if (outcome->kind == OUTCOME_LOST)
        launch_clear(p->launch, t, true);
    if (attempts_unwitnessed(p->attempts, t)) {
        attempts_restart_or_leave(p->attempts, t);
        return;
    }
    p->attempts->recovered.finished++;
    p->delivery->ops->began(p->delivery, t);
    unread_add(p->reading, t); /* settle() ends it */
}

bool
preparing_restore(struct preparing *p, struct trial *t)
{
    struct outcome outcome;
    bool run;

    if (p->x->prepare_command.text == NULL ||
        !file_has(t->folder, TRIAL_PREPARE))
        return false;
    run = stderr_tail_has_run(t->folder, NULL);
    if (!run && launch_adopt(p->launch, t, true)) {
        p->attempts->recovered.adopted++;
        resources_adopt(p->resources, t);
        enter(p, t, t->run->started_ns);
        if (t->stop != STOP_NOT)
            running_press_late(p->running, t);
        return true;
    }
    read_end(t, &outcome);
    if (run)
        return false;
    if (!is_good(t, &outcome)) {
        restore_ended(p, t, &outcome);
        return true;
    }
    p->attempts->recovered.adopted++;
    live_step(p->live, t, TRIAL_ON_PREPARE);
    p->delivery->ops->began(p->delivery, t);
    prepared(p, t);
    return true;
}
