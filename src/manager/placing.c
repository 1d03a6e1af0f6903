/* SPDX-License-Identifier: MIT */
#include "manager/placing.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/passing.h"
#include "manager/adopt.h"
#include "manager/delivery.h"
#include "manager/copying.h"
#include "manager/origin.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stdio.h>

#define PAUSE_FIRST_NS ((int64_t)100 * 1000000)
#define PAUSE_MAX_NS ((int64_t)10 * 1000000000)
#define PAUSES_MAX 7 /* doubled so often it is beyond the longest */

void
placing_stir(struct manager *m)
{
    m->placing.stirred = true;
}

void
placing_wake(struct manager *m)
{
    placing_stir(m);
    lockstep_stir(&m->lockstep);
}

bool
placing_prepares(const struct manager *m, const struct trial *t)
{
    return m->x->prepare_command != NULL &&
           (t->state == TRIAL_WAITING || t->state == TRIAL_COPYING);
}

static uint64_t
prepare_slots(const struct manager *m)
{
    return m->x->prepare_concurrency > 0 ? m->x->prepare_concurrency
                                         : m->scheduler.concurrency;
}

static bool
may_prepare(const struct manager *m, const struct trial *t)
{
    if (m->scheduler.paused || t->due[TRIAL_DUE_OFFER].place > 0 ||
        t->due[TRIAL_DUE_AGAIN].place > 0)
        return false;
    if (m->scheduler.ahead == 0) /* what is prepared takes the place of a run */
        return m->n_preparing + m->n_running < m->scheduler.concurrency &&
               m->delivery->may_begin(m, t);
    return m->n_preparing < prepare_slots(m);
}

/* Whether it is its turn to be prepared, whatever the machine has. */
static bool
is_next_to_prepare(const struct manager *m, const struct trial *t, char *why,
                   size_t size)
{
    if (origin_waits(m, t, why, size))
        return false;
    if (may_prepare(m, t))
        return true;
    if (m->scheduler.paused)
        snprintf(why, size, "the experiment is paused (tunepipe continue)");
    else if (t->due[TRIAL_DUE_OFFER].place > 0)
        snprintf(why, size, "starting it failed, it is tried again");
    else if (m->scheduler.ahead == 0)
        snprintf(why, size, "in lock step it starts with the next round");
    else
        snprintf(why, size,
                 "%llu trials are being prepared (prepareConcurrency)",
                 (unsigned long long)m->n_preparing);
    return false;
}

/* Whether it is its turn to run, whatever the machine has. */
static bool
is_next_to_run(const struct manager *m, const struct trial *t, char *why,
               size_t size)
{
    const struct deadline *again = &t->due[TRIAL_DUE_AGAIN];
    const struct deadline *offer = &t->due[TRIAL_DUE_OFFER];

    if (m->scheduler.paused) {
        snprintf(why, size, "the experiment is paused (tunepipe continue)");
        return false;
    }
    if (m->n_running >= m->scheduler.concurrency) {
        snprintf(why, size, "all %llu slots of trialConcurrency are taken",
                 (unsigned long long)m->scheduler.concurrency);
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
    if (t->state != TRIAL_PREPARED && !m->delivery->may_begin(m, t)) {
        snprintf(why, size, "in lock step it starts with the next round");
        return false;
    }
    return !origin_waits(m, t, why, size);
}

static bool
is_next(const struct manager *m, const struct trial *t, char *why, size_t size)
{
    return placing_prepares(m, t) ? is_next_to_prepare(m, t, why, size)
                                  : is_next_to_run(m, t, why, size);
}

/* Claims memory, and devices where the trial is not only prepared.  What it
 * waits for is told where no trial runs whose end could bring it. */
static enum placing
claim(struct manager *m, struct trial *t, char *why, size_t size)
{
    if (resources_claim(&m->resources, t, !placing_prepares(m, t), why, size) ==
        RESOURCES_NOW)
        return PLACING_NOW;
    if (m->n_running == 0 && why[0] != '\0' && !m->placing.told) {
        m->placing.told = true;
        progress_warn(&m->progress, "tunepipe: trial %s waits: %s", t->id, why);
    }
    return PLACING_LATER;
}

enum placing
placing_try(struct manager *m, struct trial *t, char *why, size_t size)
{
    if (!is_next(m, t, why, size))
        return PLACING_LATER;
    if (copying_first(m, t)) {
        snprintf(why, size, COPYING_WHY);
        return PLACING_LATER;
    }
    return claim(m, t, why, size);
}

void
placing_explain(struct manager *m, const struct trial *t, struct buf *out)
{
    size_t before = out->len;
    char why[300] = "";

    if (t->state == TRIAL_COPYING)
        buf_add_text(out, COPYING_WHY);
    else if (!is_next(m, t, why, sizeof why))
        buf_add_text(out, why);
    else
        resources_explain(&m->resources, t, !placing_prepares(m, t), out);
    if (out->len == before)
        buf_add_text(out, "it is about to be started");
}

void
placing_release(struct manager *m, struct trial *t)
{
    resources_release(&m->resources, t);
    placing_stir(m);
}

void
placing_add(struct manager *m, struct trial *t)
{
    struct list *trials = &m->placing.trials;
    struct link *behind = NULL, *at = trials->last;

    if (t->queue.in != NULL)
        return;
    for (; at != NULL; behind = at, at = at->previous)
        if (((const struct trial *)at->of)->number <= t->number)
            break;
    list_add(trials, behind, &t->queue, t);
    placing_stir(m);
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
placing_clear(struct manager *m, struct trial *t)
{
    if (t->offers > 0 && trial_place(t, m->folder.path, NULL) == 0)
        adopt_discard(t->folder);
}

bool
placing_again(struct manager *m, struct trial *t, const struct err *why)
{
    int64_t now = clock_monotonic_ns();

    if (why->code != ERR_MEMORY && !errno_passes(why->number))
        return false;
    trial_close(t);
    snprintf(t->why, sizeof t->why, "%.500s", why->text);
    if (t->due[TRIAL_DUE_PLACE].place == 0)
        running_due(m, t, TRIAL_DUE_PLACE,
                    t->place_until_ns > 0
                        ? t->place_until_ns
                        : now + m->x->place_ms * (int64_t)1000000);
    t->place_until_ns = 0;
    running_due(m, t, TRIAL_DUE_OFFER, now + placing_pause_ns(t->offers++));
    placing_release(m, t);
    if (!m->placing.warned && t->offers == 1)
        progress_warn(&m->progress,
                      "tunepipe: warning: trial %s cannot be started now: %s; "
                      "tried again for %.0f s (placeTimeout)",
                      t->id, why->text, (double)m->x->place_ms / 1e3);
    m->placing.warned = true;
    return true;
}

void
placing_done(struct manager *m, struct trial *t)
{
    list_remove(&t->queue);
    t->why[0] = '\0';
    if (t->due[TRIAL_DUE_PLACE].place > 0)
        t->place_until_ns = t->due[TRIAL_DUE_PLACE].at_ns;
    running_due(m, t, TRIAL_DUE_PLACE, INT64_MAX);
    running_due(m, t, TRIAL_DUE_OFFER, INT64_MAX);
    m->placing.warned = m->placing.told = false;
}
