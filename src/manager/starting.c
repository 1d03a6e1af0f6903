/* SPDX-License-Identifier: MIT */
#include "manager/starting.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/attempts.h"
#include "manager/delivery.h"
#include "manager/experiment_end.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/placing.h"
#include "manager/preparing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/reading.h"
#include "manager/running.h"
#include "manager/scheduler.h"
#include "manager/trial_folder.h"
#include "runner/runner.h"

static void
note_start(struct starting *s, const struct trial *t)
{
    char devices[256];
    const struct event_field detail[] = {
        EVENT_COUNT("pid", (uint64_t)run_pid(t->run)),
        EVENT_TEXT("device", t->claim.devices == 0
                                 ? NULL
                                 : claim_devices(t->claim.devices, devices,
                                                 sizeof devices)),
        EVENT_FIELDS_END};

    attempts_note(s->attempts, "started", t, detail);
}

/* Its run has begun. */
static void
run(struct starting *s, struct trial *t)
{
    placing_done(s->placing, t);
    t->past.restored = false; /* its run is this manager's own */
    origin_unpin(s->checkpoints, s->progress, t);
    live_step(s->live, t, TRIAL_ON_RUN);
    running_since(s->running, t, clock_monotonic_ns());
    running_watch(s->running, t);
    note_start(s, t);
    publish_trial(s->publish, EVENT_TRIAL_STARTED, t);
    s->delivery->ops->began(s->delivery, t);
    reading_begin(s->reading, t);
    progress_touch(s->progress);
}

static void
start(struct starting *s, struct trial *t)
{
    struct err err = {0};

    if (t->state == TRIAL_WAITING)
        placing_clear(s->placing, t);
    if (launch_trial(s->launch, t, &err) != 0)
        attempts_unstarted(s->attempts, t, &err);
    else
        run(s, t);
}

/* Whether it was given out by a manager that died before it could say so. */
static bool
was_begun(const struct starting *s, struct trial *t)
{
    if (launch_has_programs(s->launch) ||
        trial_place(t, s->launch->experiment_folder, NULL) != 0 ||
        !launch_adopt(s->launch, t, false))
        return false;
    trial_folder_read_origin(t);
    return true;
}

void
starting_take(struct starting *s, struct trial *t)
{
    live_add(s->live, t);
    origin_pin(s->checkpoints, t);
    if (was_begun(s, t)) {
        run(s, t);
        return;
    }
    placing_add(s->placing, t);
    starting_go(s);
}

/* One that has failed before, and is not tried again any more, has failed. */
static void
give_up(struct starting *s, struct trial *t)
{
    live_enter(s->live, t, t->failures > 0 ? TRIAL_FAILED : TRIAL_CANCELLED);
    attempts_conclude(s->attempts, t);
}

/* May free t. */
static void
offer(struct starting *s, struct trial *t)
{
    char why[300];

    if (placing_try(s->placing, t, why, sizeof why) == PLACING_NOW)
        start(s, t);
}

void
starting_go(struct starting *s)
{
    struct link *at = s->placing->trials.first, *next;

    if (!s->placing->stirred)
        return;
    s->placing->stirred = false;
    for (; at != NULL; at = next) {
        struct trial *t = at->of;

        next = at->next;
        if (s->end->known && (s->end->outcome->end > MANAGER_DURATION ||
                              (t->past.cut_off && s->scheduler->paused)))
            attempts_leave(s->attempts, t); /* the experiment is not over */
        else if (s->end->known && !t->past.cut_off)
            give_up(s, t);
        else if (placing_prepares(s->placing, t))
            preparing_offer(s->preparing, t);
        else if (s->live->running >= s->scheduler->concurrency &&
                 s->x->prepare_command.text == NULL)
            break; /* there is no place for anybody */
        else
            offer(s, t);
    }
}
