/* SPDX-License-Identifier: MIT */
/* DESIGN.  lockstep.[ch] decides whose turn it is; here that is done.  A
 * trial's files are read as ever, but what they hold goes onto the trial's
 * agenda, which has to be empty before more is read: so a trial that cannot
 * wait (NNI's file, a pattern) is buffered by its own file.  An event is sent
 * with "sync", and the AK is the sign to go on. */
#include "manager/starting.h"
#include "manager/scheduler.h"
#include "manager/running.h"
#include "manager/experiment_end.h"
#include "manager/exchange.h"
#include "manager/dispatcher.h"
#include "manager/attempts.h"
#include "manager/delivery.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "manager/reading.h"
#include "manager/resume_log.h"

#include <stdio.h>
#include <string.h>

/* A trial that reported in a way that cannot wait runs on. */
static bool
is_idle(const struct trial *t)
{
    return trial_exited(t) || t->unanswered.first != NULL;
}

static void
stand(struct delivery *d, const struct trial *t)
{
    lockstep_stand(&d->lockstep, t->number, is_idle(t), clock_monotonic_ns());
}

static void
began(struct delivery *d, struct trial *t)
{
    struct err err = {0};

    if (lockstep_join(&d->lockstep, t->number, &err) != 0)
        experiment_ends(d->end, MANAGER_UNABLE, "%s", err.text);
}

static void
take(struct delivery *d, struct trial *t, struct metric_line *metric)
{
    struct err err = {0};

    if (!metric->final && metric->sequence < t->past.told.intermediates) {
        reading_take_metric(d->reading, t, metric); /* it is not sent again */
        if (t->postponed_stop != STOP_NOT && !trial_repeats(t))
            running_stop(d->running, t, t->postponed_stop);
        unanswered_answer_line(&t->unanswered, metric, trial_answer(t));
        return;
    }
    if (unsent_add(&t->unsent, metric, &err) != 0) {
        experiment_ends(d->end, MANAGER_UNABLE, "%s", err.text);
        return;
    }
    if (metric->waits)
        unanswered_add(&t->unanswered, metric);
    if (!metric->final)
        stand(d, t);
}

/* Whether all that counts of an exited trial is read.  Of a stopped one nothing
 * more does. */
static bool
is_read(struct delivery *d, struct trial *t)
{
    return (t->stop != STOP_NOT && !trial_stops_well(t) && !t->past.restored) ||
           reading_drain(d->reading, t);
}

/* The trial has exited: it waits for a turn, with its next report, or with its
 * end when all reports are told. */
static void
await_turn(struct delivery *d, struct trial *t)
{
    if (unsent_has_reports(&t->unsent) || is_read(d, t))
        stand(d, t);
}

static void
exited(struct delivery *d, struct trial *t)
{
    if (t->past.end_told)
        delivery_at_once.exited(d, t);
    else if (d->end->interrupting)
        attempts_leave(d->attempts, t);
    else
        await_turn(d, t);
}

static void
stopped(struct delivery *d, struct trial *t)
{
    unsent_clear(&t->unsent);
    lockstep_retract(&d->lockstep, t->number);
    if (trial_exited(t))
        await_turn(d, t);
}

/* ---- told ---- */

struct telling {
    struct delivery *d;
    struct trial *t;
};

static void
apply(void *ctx, const struct metric_line *metric)
{
    struct telling *to = ctx;
    struct metric_line sent = *metric;

    sent.sync = !metric->final;
    to->d->expected.sequence = metric->sequence;
    sent.waits = false; /* it is held already */
    reading_take_metric(to->d->reading, to->t, &sent);
}

/* May free t. */
static void
deliver(struct delivery *d, struct trial *t)
{
    struct telling to = {d, t};
    uint64_t number = t->number;
    bool ends = !unsent_next_report(&t->unsent, apply, &to);

    snprintf(d->expected.id, sizeof d->expected.id, "%s", t->id);
    d->expected.end = ends;
    if (ends) {
        while (unsent_next_final(&t->unsent, apply, &to))
            continue;
        if (!running_end(d->running, t))
            return; /* its turn comes when it reports again */
    }
    lockstep_delivered(&d->lockstep, number, ends, clock_monotonic_ns());
}

static void
go(struct delivery *d)
{
    struct lockstep *l = &d->lockstep;
    uint64_t number = 0, owed;

    for (;;) {
        if (d->end->interrupting)
            return;
        switch (lockstep_next(l, &number)) {
        case LOCKSTEP_WAIT:
            return;
        case LOCKSTEP_ASK:
            owed = d->scheduler->owed;
            lockstep_asked(l, owed, dispatcher_ask(d->dispatcher));
            break;
        case LOCKSTEP_START:
            placing_stir(d->placing);
            starting_go(d->starting);
            lockstep_started(l);
            break;
        case LOCKSTEP_DELIVER:
            deliver(d, live_by_number(d->live, number));
            break;
        }
    }
}

/* ---- answers ---- */

/* What the answered trial does next: it may have reported more. */
static void
go_on(struct delivery *d, struct trial *t)
{
    if (unsent_has_reports(&t->unsent))
        stand(d, t);
    else if (trial_exited(t))
        await_turn(d, t);
    else
        reading_feed(d->reading, t);
}

/* A dispatcher that was started again may say a thing twice. */
static bool
is_expected(const struct delivery *d, const char *id, bool end,
            uint64_t sequence)
{
    const struct lockstep_event *e = &d->expected;

    return d->lockstep.expects && strcmp(e->id, id) == 0 && e->end == end &&
           (end || e->sequence == sequence);
}

static void
answered(struct delivery *d, const char *id, bool end, uint64_t sequence)
{
    struct trial *t;

    if (!is_expected(d, id, end, sequence))
        return;
    lockstep_answered(&d->lockstep);
    t = live_by_id(d->live, id);
    if (t != NULL)
        go_on(d, t);
}

/* ---- going on ---- */

static void
resume(struct delivery *d, const struct resume_log *log)
{
    const struct last_sent *told = &log->last_sent;
    struct lockstep_event *e = &d->expected;
    uint64_t last = 0;

    if (told->id == NULL ||
        !number_parse_u64(told->id, strlen(told->id), &last))
        return;
    snprintf(e->id, sizeof e->id, "%s", told->id);
    e->end = told->end;
    e->sequence = told->sequence;
    e->payload.max = SIZE_MAX / 2;
    buf_add(&e->payload, told->payload, told->len);
    lockstep_resume(&d->lockstep, last, !told->asked);
}

static void
resumed(struct delivery *d, uint64_t last, uint64_t owed, uint64_t served,
        uint64_t asked)
{
    struct lockstep_event *e = &d->expected;

    lockstep_resumed(&d->lockstep, owed, served, asked);
    if (d->lockstep.expects && e->frame <= last)
        exchange_send(d->exchange, e->end ? "EN" : "ME", buf_text(&e->payload),
                      e->payload.len);
}

/* ---- turns ---- */

/* Those that begin anew have their turn in any case. */
static bool
may_begin(const struct delivery *d, const struct trial *t)
{
    return d->lockstep.phase == LOCKSTEP_STARTS || t->attempt > 0 ||
           lockstep_knows(&d->lockstep, t->number);
}

static void
sent(struct delivery *d, struct trial *t, const struct metric_line *metric,
     const struct buf *payload)
{
    (void)t, (void)metric;
    lockstep_sent(&d->expected, payload, d->exchange->last);
}

/* ---- stops ---- */

/* A decision is about what was told, not about what was read since; of one that
 * has exited no more is told. */
static struct metrics_count
counted(const struct delivery *d, const struct trial *t)
{
    return trial_stop_is_decided(t->stop) || trial_exited(t)
               ? (struct metrics_count){t->sent, 0}
               : reading_count(d->reading, t);
}

static bool
postpones(struct trial *t, enum trial_stop stop)
{
    if (!trial_stop_is_decided(stop) || !trial_repeats(t) || trial_exited(t))
        return false;
    if (t->postponed_stop == STOP_NOT)
        t->postponed_stop = stop;
    return true;
}

static bool
hears_late(const struct trial *t)
{
    (void)t; /* its last report, which has just been answered, was told late */
    return true;
}

const struct delivery_ops delivery_lockstep = {
    .portion = 1,
    .timeless = true,
    .repeats = true,
    .acknowledged = true,
    .take = take,
    .sent = sent,
    .answered = answered,
    .may_begin = may_begin,
    .began = began,
    .exited = exited,
    .counted = counted,
    .postpones = postpones,
    .hears_late = hears_late,
    .stopped = stopped,
    .go = go,
    .resume = resume,
    .resumed = resumed,
};
