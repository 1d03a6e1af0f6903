/* SPDX-License-Identifier: MIT */
#include "manager/attempts.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "json_writer.h"
#include "manager/delivery.h"
#include "manager/dues.h"
#include "manager/exchange.h"
#include "manager/experiment_end.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "runner/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STARTS_FAILED_MAX 3
/* A trial that a signal ended so shortly before one came to its manager had the
 * same one. */
#define SAME_SIGNAL_NS 2000000000

/* ---- over ---- */

double
attempts_seconds(const struct trial *t)
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
attempts_hear_end(void *ctx, const struct attempt_end *end)
{
    struct trial *t = end->trial;
    struct attempts *a = ctx;

    dues_drop(a->dues, t);
    a->run_ns += (int64_t)(end->seconds * 1e9);
    if (end->how == ATTEMPT_LEFT ||
        (end->how == ATTEMPT_JUDGED && !trial_exited(t)))
        lockstep_leave(&a->delivery->lockstep,
                       t->number); /* its turn never comes */
    if (end->how == ATTEMPT_LEFT && trial_began(t) && a->end->known &&
        a->end->outcome->end <= MANAGER_DURATION)
        a->end->outcome->end =
            MANAGER_INTERRUPTED; /* it was to end before that */
}

static void
end(struct attempts *a, enum attempt_end_how how, struct trial *t)
{
    attempt_ends_tell(
        &a->ends, &(struct attempt_end){
                      .how = how, .trial = t, .seconds = attempts_seconds(t)});
    live_remove(a->live, t);
    trial_free(t);
}

void
attempts_conclude(struct attempts *a, struct trial *t)
{
    end(a, ATTEMPT_JUDGED, t);
}

void
attempts_leave(struct attempts *a, struct trial *t)
{
    live_enter(a->live, t, TRIAL_INTERRUPTED);
    end(a, ATTEMPT_LEFT, t);
}

void
attempts_unplaced(struct attempts *a, struct trial *t, const char *why)
{
    snprintf(t->why, sizeof t->why, "%.500s", why);
    live_enter(a->live, t, TRIAL_FAILED);
    if (++a->placing->starts_failed >= STARTS_FAILED_MAX)
        experiment_ends(a->end, MANAGER_UNABLE, "trials cannot be started: %s",
                        why);
    attempts_conclude(a, t);
}

void
attempts_unstarted(struct attempts *a, struct trial *t, const struct err *err)
{
    if (placing_again(a->placing, t, err))
        return;
    placing_release(a->placing, t);
    attempts_unplaced(a, t, err->text);
}

/* ---- another attempt ---- */

struct trial *
attempts_next(const struct attempts *a, const struct trial *t)
{
    struct trial *next = trial_new(t->number, t->record, t->record_len,
                                   t->parameter_id, t->parameters);

    if (next == NULL)
        return NULL;
    next->attempt = t->attempt + 1;
    next->failures = t->failures;
    next->postponed_stop = t->postponed_stop;
    next->origin = t->origin;
    reported_copy(&next->earlier, t->latest.given ? &t->latest : &t->earlier);
    if (a->delivery->ops->repeats) /* it is heard where this one was */
        next->past.told = (struct metrics_count){
            t->sent > t->past.told.intermediates ? t->sent
                                                 : t->past.told.intermediates,
            t->past.told.finals};
    return next;
}

void
attempts_replace(struct attempts *a, struct trial *t, struct trial *next)
{
    lockstep_retract(&a->delivery->lockstep, t->number);
    a->delivery->ops->began(
        a->delivery, next); /* a round waits for it, whoever began that */
    attempt_ends_tell(&a->ends,
                      &(struct attempt_end){.how = ATTEMPT_REPLACED,
                                            .trial = t,
                                            .seconds = attempts_seconds(t),
                                            .next = next});
    live_replace(a->live, t, next);
    trial_free(t);
    placing_add(a->placing, next);
}

void
attempts_restart_or_leave(struct attempts *a, struct trial *t)
{
    struct trial *next;

    if (a->end->interrupting) {
        attempts_leave(a, t);
        return;
    }
    next = attempts_next(a, t);
    if (next == NULL) {
        experiment_ends(a->end, MANAGER_UNABLE, "out of memory");
        attempts_leave(a, t); /* whoever resumes starts it again */
        return;
    }
    next->past.cut_off = true;
    a->recovered.again++;
    attempts_replace(a, t, next);
}

/* That is a start that failed, and no attempt. */
bool
attempts_unbegun(struct attempts *a, struct trial *t, const struct run_end *end)
{
    struct err err = {.code = ERR_SYSTEM, .number = EAGAIN};
    struct trial *next;

    if (!end->unbegun || t->stop != STOP_NOT || t->past.end_told ||
        t->past.recorded || (next = attempts_next(a, t)) == NULL)
        return false;
    next->attempt = t->attempt;
    next->past.cut_off = t->past.cut_off;
    next->offers = t->offers;
    next->place_until_ns = t->place_until_ns;
    snprintf(err.text, sizeof err.text, "%s",
             end->outcome.text[0] != '\0' ? end->outcome.text
                                          : "its wrapper could not begin");
    attempts_replace(a, t, next);
    placing_again(a->placing, next, &err); /* as EAGAIN passes */
    return true;
}

/* ---- what an end means ---- */

bool
attempts_open(const struct trial *t)
{
    return !t->past.end_told && !t->past.recorded && trial_undecided(t) &&
           !t->final.given && t->past.told.finals == 0;
}

bool
attempts_in_vain(const struct attempts *a, const struct trial *t)
{
    if (!attempts_open(t))
        return false;
    if (t->stop == STOP_INTERRUPT)
        return a->delivery->ops->repeats; /* else its files may hold a result */
    return outcome_is_moot(&t->outcome);
}

bool
attempts_unseen(const struct attempts *a, const struct trial *t)
{
    const struct outcome *o = &t->outcome;

    return !a->delivery->ops->repeats && attempts_open(t) &&
           t->stop == STOP_NOT && o->kind != OUTCOME_LOST && !o->abandoned &&
           outcome_by_signal(o);
}

bool
attempts_unwitnessed(const struct attempts *a, const struct trial *t)
{
    return attempts_in_vain(a, t) || (attempts_open(t) && t->stop == STOP_NOT &&
                                      outcome_by_signal(&t->outcome));
}

/* A signal that ended the trial was meant for its manager, too, should it come
 * there: as at the end of a batch job or of a terminal. */
void
attempts_ended(struct attempts *a, struct trial *t)
{
    t->ended_ns = clock_monotonic_ns();
    if (t->stop == STOP_NOT && !a->end->interrupting && !t->past.end_told &&
        !t->past.recorded && !t->done && outcome_by_signal(&t->outcome))
        dues_set(a->dues, t, TRIAL_DUE_JUDGE, t->ended_ns + SAME_SIGNAL_NS);
}

/* ---- noted ---- */

void
attempts_note(struct attempts *a, const char *event, const struct trial *t,
              const struct event_field *detail)
{
    struct json_writer w;
    struct buf payload;

    buf_init(&payload, 65536);
    w = json_begin_object(&payload);
    json_add_text(&w, "event", event);
    json_add_text(&w, "trial_job_id", t->id);
    json_add_raw(&w, "parameter_id", t->parameter_id);
    json_add_unsigned(&w, "attempt", t->attempt);
    events_write_fields(&w, detail);
    json_close(&w);
    if (buf_check(&payload, "a note", NULL) == 0)
        exchange_send(a->exchange, "NT", payload.data, payload.len);
    buf_fini(&payload);
}
