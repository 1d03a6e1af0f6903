/* SPDX-License-Identifier: MIT */
/* DESIGN.  lockstep.[ch] decides whose turn it is; here that is done.  Files
 * are read as ever, but what they hold goes onto the trial's agenda, which has
 * to be empty before more is read: so a trial that cannot wait (NNI's file, a
 * pattern) is buffered by its own file.  An event is sent with "sync", and the
 * AK is the sign to go on. */
#include "manager/stepping.h"

#include "core/clock.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "frame.h"
#include "json.h"
#include "manager/live.h"
#include "manager/resume_log.h"
#include "manager/reading.h"
#include "manager/state.h"
#include "manager/trial.h"

#include <stdio.h>
#include <string.h>

/* A trial that reported in a way that cannot wait runs on. */
static bool
is_idle(const struct trial *t)
{
    return t->exited || t->unanswered.first != NULL;
}

static void
stand(struct manager *m, const struct trial *t)
{
    lockstep_stand(&m->lockstep, t->number, is_idle(t), clock_monotonic_ns());
}

void
stepping_started(struct manager *m, struct trial *t)
{
    struct err err = {0};

    if (lockstep_join(&m->lockstep, t->number, &err) != 0)
        manager_end(m, MANAGER_UNABLE, "%s", err.text);
}

void
stepping_take(struct manager *m, struct trial *t, struct metric_line *metric)
{
    struct err err = {0};

    if (!metric->final && metric->sequence < t->heard.intermediates) {
        reading_apply(m, t, metric); /* it is not sent again */
        if (t->stop_again != STOP_NOT && !trial_repeats(t))
            running_stop(m, t, (int)t->stop_again);
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

void
stepping_exited(struct manager *m, struct trial *t)
{
    if (unsent_has_reports(&t->unsent) || reading_drain(m, t))
        stand(m, t); /* with a report, or with its end */
}

void
stepping_stopped(struct manager *m, struct trial *t)
{
    unsent_clear(&t->unsent);
    lockstep_retract(&m->lockstep, t->number);
    if (t->exited)
        stepping_exited(m, t);
}

/* ---- delivery ---- */

struct delivery {
    struct manager *m;
    struct trial *t;
};

static void
apply(void *ctx, const struct metric_line *metric)
{
    struct delivery *d = ctx;
    struct metric_line sent = *metric;

    sent.sync = !metric->final;
    d->m->expected.sequence = metric->sequence;
    sent.waits = false; /* it is held already */
    reading_apply(d->m, d->t, &sent);
}

/* May free t. */
static void
deliver(struct manager *m, struct trial *t)
{
    struct delivery d = {m, t};
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

void
stepping_go(struct manager *m)
{
    struct lockstep *l = &m->lockstep;
    uint64_t number = 0, owed;

    for (;;) {
        if (!l->on || m->interrupting)
            return;
        switch (lockstep_next(l, &number)) {
        case LOCKSTEP_WAIT:
            return;
        case LOCKSTEP_ASK:
            owed = m->scheduler.owed;
            lockstep_asked(l, owed, manager_ask(m));
            break;
        case LOCKSTEP_START:
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
    else if (t->exited)
        stepping_exited(m, t);
    else
        reading_feed(m, t);
}

/* A dispatcher that was started again may say a thing twice. */
static bool
is_expected(const struct manager *m, const char *job, bool end,
            uint64_t sequence)
{
    const struct lockstep_event *e = &m->expected;

    return m->lockstep.on && m->lockstep.expects && strcmp(e->id, job) == 0 &&
           e->end == end && (end || e->sequence == sequence);
}

/* "end", and words from another time, are no reason to end it. */
static enum trial_stop
decided(const char *decision)
{
    static const struct {
        const char *word;
        enum trial_stop stop;
    } decisions[] = {{"stop", STOP_ASSESSOR},
                     {"pause", STOP_PAUSE},
                     {"finish", STOP_FINISH}};

    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        if (strcmp(decisions[i].word, decision) == 0)
            return decisions[i].stop;
    return STOP_NOT;
}

/* The trial that was judged goes on, or ends.  Its stop has been told before,
 * and is told here once more. */
static void
take_verdict(struct manager *m, const char *job, uint64_t sequence,
             enum trial_stop stop)
{
    struct trial *t = live_by_id(m, job);

    if (t != NULL && (stop == STOP_PAUSE || stop == STOP_FINISH))
        running_stop(m, t, (int)stop);
    t = live_by_id(m, job); /* if it still is there */
    if (t == NULL)
        return;
    unanswered_answer(&t->unanswered, sequence,
                      stop == STOP_NOT        ? REPORT_GO
                      : stop == STOP_ASSESSOR ? REPORT_STOP
                                              : trial_answer(t));
    if (!m->lockstep.on && t->exited)
        running_finish(m, t);
}

static void
answer(struct manager *m, const char *job, struct jval root)
{
    const char *decision = "";
    uint64_t sequence = 0;
    struct trial *t;
    struct jval v;
    bool end;

    if (jval_get(root, "decision", &v))
        jval_string(v, &decision, NULL);
    end = strcmp(decision, "end") == 0;
    if (!end && (!jval_get(root, "sequence", &v) || !jval_uint(v, &sequence)))
        return;
    if (!end)
        take_verdict(m, job, sequence, decided(decision));
    if (!is_expected(m, job, end, sequence))
        return;
    lockstep_answered(&m->lockstep);
    t = live_by_id(m, job);
    if (t != NULL)
        go_on(m, t);
}

void
stepping_acknowledged(struct manager *m, const struct frame *frame)
{
    struct json *doc =
        json_parse(frame->payload, frame->len, JSON_STRICT, NULL);
    const char *job;
    struct jval v;

    /* In lock step an interrupted experiment is told it again: resume. */
    if (doc != NULL && !(m->lockstep.on && m->interrupting) &&
        jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &job, NULL))
        answer(m, job, json_root(doc));
    json_free(doc);
}

/* ---- going on ---- */

bool
stepping_may_start(const struct manager *m)
{
    return !m->lockstep.on || m->lockstep.phase == LOCKSTEP_STARTS;
}

void
stepping_resume(struct manager *m, const struct resume_log *log)
{
    const struct last_sent *told = &log->last_sent;
    struct lockstep_event *e = &m->expected;
    uint64_t last = 0;

    if (!m->lockstep.on || told->id == NULL ||
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
repeat_held(struct manager *m, const struct trial *t, uint64_t last)
{
    for (const struct unanswered_report *h = t->unanswered.first; h != NULL;
         h = h->next)
        if (h->frame > 0 && h->frame <= last)
            exchange_send(&m->exchange, "ME", h->payload, h->len);
}

void
stepping_resumed(struct manager *m, uint64_t last, uint64_t owed,
                 uint64_t served, uint64_t asked)
{
    struct lockstep_event *e = &m->expected;

    /* What is in the log may be answered, and its answer nowhere: said twice
     * it is answered again, behind all else that has to be said again. */
    if (!m->lockstep.on) {
        for (const struct trial *t = m->live; t != NULL; t = t->next)
            repeat_held(m, t, last);
        return;
    }
    lockstep_resumed(&m->lockstep, owed, served, asked);
    if (m->lockstep.expects && e->frame <= last)
        exchange_send(&m->exchange, e->end ? "EN" : "ME", buf_text(&e->payload),
                      e->payload.len);
}

void
stepping_say(struct manager *m)
{
    const struct lockstep *l = &m->lockstep;
    double waited = (double)l->waited_ns / 1e9;

    if (l->rounds == 0)
        return;
    progress_say(&m->progress,
                 "lock step: %llu rounds; trials waited %.1f s for others, and "
                 "lasted %.1f s, all together",
                 (unsigned long long)l->rounds, waited,
                 (double)m->trials_ns / 1e9);
}
