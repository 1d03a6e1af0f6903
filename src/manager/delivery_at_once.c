/* SPDX-License-Identifier: MIT */
#include "manager/running.h"
#include "manager/experiment_end.h"
#include "manager/exchange.h"
#include "manager/dispatcher.h"
#include "manager/attempts.h"
#include "manager/delivery.h"

#include "manager/live.h"
#include "manager/reading.h"

#define PORTION ((size_t)1 << 20)

/* One that uses up the budget is judged, as if the trial waited: else chance
 * would decide whether a trial that ends there is paused or has failed. */
static void
take(struct delivery *d, struct trial *t, struct metric_line *metric)
{
    metric->decides_end = !metric->final && !t->past.end_told &&
                          trial_undecided(t) &&
                          trial_reaches(t, metric->sequence);
    metric->sync |= metric->decides_end;
    if (!metric->final && metric->sequence < t->past.told.intermediates) {
        unanswered_answer_line(&t->unanswered, metric, REPORT_GO);
        metric->waits = metric->hears = false; /* nor did it in fact */
    } else if (t->stop == STOP_INTERRUPT && !metric->decides_end) {
        unanswered_answer_line(&t->unanswered, metric, trial_answer(t));
        metric->waits = metric->hears = metric->sync = false;
    }
    if (metric->waits || metric->decides_end)
        unanswered_add(&t->unanswered, metric);
    reading_take_metric(d->reading, t, metric);
}

static void
sent(struct delivery *d, struct trial *t, const struct metric_line *metric,
     const struct buf *payload)
{
    unanswered_sent(&t->unanswered, metric->sequence, d->exchange->last,
                    payload->data, payload->len);
}

/* What the dispatcher makes of its last report tells how its end is meant. */
static bool
is_unjudged(const struct delivery *d, const struct trial *t)
{
    return trial_undecided(t) && !t->past.end_told &&
           (!d->end->known || d->end->interrupting) &&
           unanswered_judges(&t->unanswered);
}

static void
exited(struct delivery *d, struct trial *t)
{
    if (!reading_drain(d->reading, t))
        return; /* called again when the dispatcher has room */
    if (!is_unjudged(d, t))
        running_end(d->running, t);
    else if (d->end->interrupting)
        attempts_leave(d->attempts,
                       t); /* whoever resumes tells what there is of it */
    /* Else called again when the dispatcher has answered. */
}

static void
answered(struct delivery *d, const char *id, bool end, uint64_t sequence)
{
    struct trial *t = live_by_id(d->live, id);

    (void)sequence;
    if (!end && t != NULL && trial_exited(t))
        running_finish(d->running, t);
}

static struct metrics_count
counted(const struct delivery *d, const struct trial *t)
{
    return reading_count(d->reading, t);
}

static bool
hears_late(const struct trial *t)
{
    return unanswered_judges(&t->unanswered);
}

/* Its end is judged in the next turn. */
static void
stopped(struct delivery *d, struct trial *t)
{
    if (trial_exited(t))
        unread_add(d->reading, t);
}

static void
ask(struct delivery *d)
{
    dispatcher_ask(d->dispatcher);
}

/* What is in the log may be answered, and its answer nowhere: said twice it is
 * answered again, behind all else that has to be said again. */
static void
resumed(struct delivery *d, uint64_t last, uint64_t owed, uint64_t served,
        uint64_t asked)
{
    (void)owed, (void)served, (void)asked;
    for (const struct trial *t = d->live->first; t != NULL; t = t->next)
        for (const struct unanswered_report *h = t->unanswered.first; h != NULL;
             h = h->next)
            if (h->frame > 0 && h->frame <= last)
                exchange_send(d->exchange, "ME", h->payload, h->payload_len);
}

static bool
may_begin(const struct delivery *d, const struct trial *t)
{
    (void)d, (void)t;
    return true;
}

static void
no_turn(struct delivery *d, struct trial *t)
{
    (void)d, (void)t;
}

static bool
never(struct trial *t, enum trial_stop stop)
{
    (void)t, (void)stop;
    return false;
}

static void
no_round(struct delivery *d, const struct resume_log *log)
{
    (void)d, (void)log;
}

const struct delivery_ops delivery_at_once = {
    .portion = PORTION,
    .immediate = true,
    .take = take,
    .sent = sent,
    .answered = answered,
    .may_begin = may_begin,
    .began = no_turn,
    .exited = exited,
    .counted = counted,
    .postpones = never,
    .hears_late = hears_late,
    .stopped = stopped,
    .go = ask,
    .resume = no_round,
    .resumed = resumed,
};
