/* SPDX-License-Identifier: MIT */
/* DESIGN.  lockstep.[ch] decides whose turn it is; here that is done.  A
 * trial's files are read as ever, but what they hold goes onto the trial's
 * agenda, which has to be empty before more is read: so a trial that cannot
 * wait (NNI's file, a pattern) is buffered by its own file.  An event is sent
 * with "sync", and the AK is the sign to go on. */
#include "manager/delivery.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/number.h"
#include "manager/live.h"
#include "manager/placing.h"
#include "manager/reading.h"
#include "manager/resume_log.h"
#include "manager/state.h"

#include <stdio.h>
#include <string.h>

/* A trial that reported in a way that cannot wait runs on. */
static bool
is_idle(const struct trial *t)
{
    return trial_exited(t) || t->unanswered.first != NULL;
}

static void
stand(struct manager *m, const struct trial *t)
{
    lockstep_stand(&m->lockstep, t->number, is_idle(t), clock_monotonic_ns());
}

static void
began(struct manager *m, struct trial *t)
{
    struct err err = {0};

    if (lockstep_join(&m->lockstep, t->number, &err) != 0)
        manager_end(m, MANAGER_UNABLE, "%s", err.text);
}

static void
take(struct manager *m, struct trial *t, struct metric_line *metric)
{
    struct err err = {0};

    if (!metric->final && metric->sequence < t->past.told.intermediates) {
        reading_take_metric(m, t, metric); /* it is not sent again */
        if (t->postponed_stop != STOP_NOT && !trial_repeats(t))
            running_stop(m, t, t->postponed_stop);
        unanswered_answer_line(&t->unanswered, metric, trial_answer(t));
        return;
    }
    if (unsent_add(&t->unsent, metric, &err) != 0) {
        manager_end(m, MANAGER_UNABLE, "%s", err.text);
        return;
    }
    if (metric->waits)
        unanswered_add(&t->unanswered, metric);
    if (!metric->final)
        stand(m, t);
}

/* Whether all that counts of an exited trial is read.  Of a stopped one nothing
 * more does. */
static bool
is_read(struct manager *m, struct trial *t)
{
    return (t->stop != STOP_NOT && !trial_stops_well(t) && !t->past.restored) ||
           reading_drain(m, t);
}

/* The trial has exited: it waits for a turn, with its next report, or with its
 * end when all reports are told. */
static void
await_turn(struct manager *m, struct trial *t)
{
    if (unsent_has_reports(&t->unsent) || is_read(m, t))
        stand(m, t);
}

static void
exited(struct manager *m, struct trial *t)
{
    if (t->past.end_told)
        delivery_at_once.exited(m, t);
    else if (m->interrupting)
        running_leave(m, t);
    else
        await_turn(m, t);
}

static void
stopped(struct manager *m, struct trial *t)
{
    unsent_clear(&t->unsent);
    lockstep_retract(&m->lockstep, t->number);
    if (trial_exited(t))
        await_turn(m, t);
}

/* ---- told ---- */

struct telling {
    struct manager *m;
    struct trial *t;
};

static void
apply(void *ctx, const struct metric_line *metric)
{
    struct telling *d = ctx;
    struct metric_line sent = *metric;

    sent.sync = !metric->final;
    d->m->expected.sequence = metric->sequence;
    sent.waits = false; /* it is held already */
    reading_take_metric(d->m, d->t, &sent);
}

/* May free t. */
static void
deliver(struct manager *m, struct trial *t)
{
    struct telling d = {m, t};
    uint64_t number = t->number;
    bool ends = !unsent_next_report(&t->unsent, apply, &d);

    snprintf(m->expected.id, sizeof m->expected.id, "%s", t->id);
    m->expected.end = ends;
    if (ends) {
        while (unsent_next_final(&t->unsent, apply, &d))
            continue;
        if (!running_end(m, t))
            return; /* its turn comes when it reports again */
    }
    lockstep_delivered(&m->lockstep, number, ends, clock_monotonic_ns());
}

static void
go(struct manager *m)
{
    struct lockstep *l = &m->lockstep;
    uint64_t number = 0, owed;

    for (;;) {
        if (m->interrupting)
            return;
        switch (lockstep_next(l, &number)) {
        case LOCKSTEP_WAIT:
            return;
        case LOCKSTEP_ASK:
            owed = m->scheduler.owed;
            lockstep_asked(l, owed, manager_ask(m));
            break;
        case LOCKSTEP_START:
            placing_stir(m);
            running_start_waiting(m);
            lockstep_started(l);
            break;
        case LOCKSTEP_DELIVER:
            deliver(m, live_by_number(m, number));
            break;
        }
    }
}

/* ---- answers ---- */

/* What the answered trial does next: it may have reported more. */
static void
go_on(struct manager *m, struct trial *t)
{
    if (unsent_has_reports(&t->unsent))
        stand(m, t);
    else if (trial_exited(t))
        await_turn(m, t);
    else
        reading_feed(m, t);
}

/* A dispatcher that was started again may say a thing twice. */
static bool
is_expected(const struct manager *m, const char *id, bool end,
            uint64_t sequence)
{
    const struct lockstep_event *e = &m->expected;

    return m->lockstep.expects && strcmp(e->id, id) == 0 && e->end == end &&
           (end || e->sequence == sequence);
}

static void
answered(struct manager *m, const char *id, bool end, uint64_t sequence)
{
    struct trial *t;

    if (!is_expected(m, id, end, sequence))
        return;
    lockstep_answered(&m->lockstep);
    t = live_by_id(m, id);
    if (t != NULL)
        go_on(m, t);
}

/* ---- going on ---- */

static void
resume(struct manager *m, const struct resume_log *log)
{
    const struct last_sent *told = &log->last_sent;
    struct lockstep_event *e = &m->expected;
    uint64_t last = 0;

    if (told->id == NULL ||
        !number_parse_u64(told->id, strlen(told->id), &last))
        return;
    snprintf(e->id, sizeof e->id, "%s", told->id);
    e->end = told->end;
    e->sequence = told->sequence;
    e->payload.max = SIZE_MAX / 2;
    buf_add(&e->payload, told->payload, told->len);
    lockstep_resume(&m->lockstep, last, !told->asked);
}

static void
resumed(struct manager *m, uint64_t last, uint64_t owed, uint64_t served,
        uint64_t asked)
{
    struct lockstep_event *e = &m->expected;

    lockstep_resumed(&m->lockstep, owed, served, asked);
    if (m->lockstep.expects && e->frame <= last)
        exchange_send(&m->exchange, e->end ? "EN" : "ME", buf_text(&e->payload),
                      e->payload.len);
}

/* ---- turns ---- */

/* Those that begin anew have their turn in any case. */
static bool
may_begin(const struct manager *m, const struct trial *t)
{
    return m->lockstep.phase == LOCKSTEP_STARTS || t->attempt > 0 ||
           lockstep_knows(&m->lockstep, t->number);
}

static void
sent(struct manager *m, struct trial *t, const struct metric_line *metric,
     const struct buf *payload)
{
    (void)t, (void)metric;
    lockstep_sent(&m->expected, payload, m->exchange.last);
}

/* ---- stops ---- */

/* A decision is about what was told, not about what was read since; of one that
 * has exited no more is told. */
static struct metrics_count
counted(const struct manager *m, const struct trial *t)
{
    return trial_stop_is_decided(t->stop) || trial_exited(t)
               ? (struct metrics_count){t->sent, 0}
               : reading_count(m, t);
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

const struct delivery delivery_lockstep = {
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
