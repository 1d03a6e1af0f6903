/* SPDX-License-Identifier: MIT */
#include "manager/placing.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/folder.h"
#include "core/passing.h"
#include "manager/copying.h"
#include "manager/delivery.h"
#include "manager/dues.h"
#include "manager/experiment_folder.h"
#include "manager/live.h"
#include "manager/origin.h"
#include "manager/progress.h"
#include "manager/resources.h"
#include "manager/scheduler.h"
#include "manager/trial.h"

#include <stdio.h>

#define PAUSE_FIRST_NS ((int64_t)100 * 1000000)
#define PAUSE_MAX_NS ((int64_t)10 * 1000000000)
#define PAUSES_MAX 7 /* doubled so often it is beyond the longest */

void
placing_stir(struct placing *p)
{
    p->stirred = true;
}

void
placing_wake(struct placing *p)
{
    placing_stir(p);
    lockstep_stir(&p->delivery->lockstep);
}

bool
placing_prepares(const struct placing *p, const struct trial *t)
{
    return p->x->prepare_command.text != NULL &&
           (t->state == TRIAL_WAITING || t->state == TRIAL_COPYING);
}

static uint64_t
prepare_slots(const struct placing *p)
{
    return p->x->prepare_concurrency > 0 ? p->x->prepare_concurrency
                                         : p->scheduler->concurrency;
}

static bool
may_prepare(const struct placing *p, const struct trial *t)
{
    if (p->scheduler->paused || t->due[TRIAL_DUE_OFFER].place > 0 ||
        t->due[TRIAL_DUE_AGAIN].place > 0)
        return false;
    if (p->scheduler->ahead ==
        0) /* what is prepared takes the place of a run */
        return p->live->preparing + p->live->running <
                   p->scheduler->concurrency &&
               p->delivery->ops->may_begin(p->delivery, t);
    return p->live->preparing < prepare_slots(p);
}

/* Whether it is its turn to be prepared, whatever the machine has. */
static bool
is_next_to_prepare(const struct placing *p, const struct trial *t, char *why,
                   size_t size)
{
    if (origin_waits(live_by_number(p->live, t->origin.from), t, why, size))
        return false;
    if (may_prepare(p, t))
        return true;
    if (p->scheduler->paused)
        snprintf(why, size, "the experiment is paused (tunepipe continue)");
    else if (t->due[TRIAL_DUE_OFFER].place > 0)
        snprintf(why, size, "starting it failed, it is tried again");
    else if (p->scheduler->ahead == 0)
        snprintf(why, size, "in lock step it starts with the next round");
    else
        snprintf(why, size,
                 "%llu trials are being prepared (prepareConcurrency)",
                 (unsigned long long)p->live->preparing);
    return false;
}

/* Whether it is its turn to run, whatever the machine has. */
static bool
is_next_to_run(const struct placing *p, const struct trial *t, char *why,
               size_t size)
{
    const struct deadline *again = &t->due[TRIAL_DUE_AGAIN];
    const struct deadline *offer = &t->due[TRIAL_DUE_OFFER];

    if (p->scheduler->paused) {
        snprintf(why, size, "the experiment is paused (tunepipe continue)");
        return false;
    }
    if (p->live->running >= p->scheduler->concurrency) {
        snprintf(why, size, "all %llu slots of trialConcurrency are taken",
                 (unsigned long long)p->scheduler->concurrency);
        return false;
    }
    if (again->place > 0) {
        snprintf(why, size, "it failed, and is tried again in %.1f s",
                 (double)(again->at_ns - clock_monotonic_ns()) / 1e9);
        return false;
    }
    if (offer->place > 0) {
        snprintf(why, size, "starting it failed, it is tried again in %.1f s",
                 (double)(offer->at_ns - clock_monotonic_ns()) / 1e9);
        return false;
    }
    if (t->state != TRIAL_PREPARED &&
        !p->delivery->ops->may_begin(p->delivery, t)) {
        snprintf(why, size, "in lock step it starts with the next round");
        return false;
    }
    return !origin_waits(live_by_number(p->live, t->origin.from), t, why, size);
}

static bool
is_next(const struct placing *p, const struct trial *t, char *why, size_t size)
{
    return placing_prepares(p, t) ? is_next_to_prepare(p, t, why, size)
                                  : is_next_to_run(p, t, why, size);
}

/* Claims memory, and devices where the trial is not only prepared.  What it
 * waits for is told where no trial runs whose end could bring it. */
static enum placing_answer
claim(struct placing *p, struct trial *t, char *why, size_t size)
{
    if (resources_claim(p->resources, t, !placing_prepares(p, t), why, size) ==
        RESOURCES_NOW)
        return PLACING_NOW;
    if (p->live->running == 0 && why[0] != '\0' && !p->told) {
        p->told = true;
        progress_warn(p->progress, "tunepipe: trial %s waits: %s", t->id, why);
    }
    return PLACING_LATER;
}

enum placing_answer
placing_try(struct placing *p, struct trial *t, char *why, size_t size)
{
    if (!is_next(p, t, why, size))
        return PLACING_LATER;
    if (copying_first(p->copying, t)) {
        snprintf(why, size, COPYING_WHY);
        return PLACING_LATER;
    }
    return claim(p, t, why, size);
}

void
placing_explain(struct placing *p, const struct trial *t, struct buf *out)
{
    size_t before = out->len;
    char why[300] = "";

    if (t->state == TRIAL_COPYING)
        buf_add_text(out, COPYING_WHY);
    else if (!is_next(p, t, why, sizeof why))
        buf_add_text(out, why);
    else
        resources_explain(p->resources, t, !placing_prepares(p, t), out);
    if (out->len == before)
        buf_add_text(out, "it is about to be started");
}

void
placing_release(struct placing *p, struct trial *t)
{
    resources_release(p->resources, t);
    placing_stir(p);
}

void
placing_add(struct placing *p, struct trial *t)
{
    struct list *trials = &p->trials;
    struct link *behind = NULL, *at = trials->last;

    if (t->queue.in != NULL)
        return;
    for (; at != NULL; behind = at, at = at->previous)
        if (((const struct trial *)at->of)->number <= t->number)
            break;
    list_add(trials, behind, &t->queue, t);
    placing_stir(p);
}

void
placing_hear_end(void *ctx, const struct attempt_end *end)
{
    list_remove(&end->trial->queue);
    placing_stir(ctx); /* its slot is free */
}

int64_t
placing_pause_ns(unsigned failures)
{
    int64_t pause =
        failures < PAUSES_MAX ? PAUSE_FIRST_NS << failures : PAUSE_MAX_NS;

    return pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

void
placing_clear(struct placing *p, struct trial *t)
{
    if (t->offers > 0 && trial_place(t, p->folder->path, NULL) == 0)
        folder_remove(t->folder);
}

bool
placing_again(struct placing *p, struct trial *t, const struct err *why)
{
    int64_t now = clock_monotonic_ns();

    if (why->code != ERR_MEMORY && !errno_passes(why->number))
        return false;
    trial_close(t);
    snprintf(t->why, sizeof t->why, "%.500s", why->text);
    if (t->due[TRIAL_DUE_PLACE].place == 0)
        dues_set(p->dues, t, TRIAL_DUE_PLACE,
                 t->place_until_ns > 0
                     ? t->place_until_ns
                     : now + p->x->place_ms * (int64_t)1000000);
    t->place_until_ns = 0;
    dues_set(p->dues, t, TRIAL_DUE_OFFER, now + placing_pause_ns(t->offers++));
    placing_release(p, t);
    if (!p->warned && t->offers == 1)
        progress_warn(p->progress,
                      "tunepipe: warning: trial %s cannot be started now: %s; "
                      "tried again for %.0f s (placeTimeout)",
                      t->id, why->text, (double)p->x->place_ms / 1e3);
    p->warned = true;
    return true;
}

void
placing_done(struct placing *p, struct trial *t)
{
    list_remove(&t->queue);
    t->why[0] = '\0';
    if (t->due[TRIAL_DUE_PLACE].place > 0)
        t->place_until_ns = t->due[TRIAL_DUE_PLACE].at_ns;
    dues_set(p->dues, t, TRIAL_DUE_PLACE, INT64_MAX);
    dues_set(p->dues, t, TRIAL_DUE_OFFER, INT64_MAX);
    p->starts_failed = 0;
    p->warned = p->told = false;
}
