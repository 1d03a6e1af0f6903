/* SPDX-License-Identifier: MIT */
#include "manager/state.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/process.h"
#include "manager/delivery.h"
#include "manager/happened.h"
#include "manager/placing.h"
#include "manager/reading.h"
#include "manager/trial_step.h"
#include "trial/files.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define GIVE_UP_NS 5000000000 /* for a wrapper, behind its grace */
/* How long before its manager a trial may get the signal that ends both. */
#define SAME_SIGNAL_NS 2000000000

/* Never a stranger, even when the wrapper is nobody's child any more. */
static void
signal_wrapper(const struct trial *t, int sig)
{
    process_kill(t->pidfd, sig);
}

static bool
is_decided(enum trial_stop stop)
{
    return stop == STOP_ASSESSOR || stop == STOP_PAUSE || stop == STOP_FINISH;
}

/* How much of what was read counts.  A trial that goes on beyond its budget is
 * stopped on the dot, however much it had reported by the time. */
static struct metrics_count
count_before(const struct manager *m, const struct trial *t)
{
    struct metrics_count n = m->delivery->counted(m, t);

    if (trial_stops_well(t) && t->reached.given &&
        n.intermediates > t->reached_at + 1)
        n.intermediates = t->reached_at + 1;
    return n;
}

/* So that another manager knows what counts and what does not. */
static void
record_stop(struct manager *m, struct trial *t, enum trial_stop stop)
{
    char *path = file_join(t->folder, TRIAL_STOP);
    char line[80];
    int len;

    t->stop = stop;
    t->counted = count_before(m, t);
    if (trial_stops_well(t) && t->reached.given)
        t->latest = t->reached;
    len = snprintf(line, sizeof line, "%s %llu %llu\n", trial_stop_name(stop),
                   (unsigned long long)t->counted.intermediates,
                   (unsigned long long)t->counted.finals);
    if (path != NULL)
        file_write(path, line, (size_t)len, NULL);
    free(path);
    if (is_decided(stop))
        happened_decision(m, t);
}

static void
terminate(struct manager *m, struct trial *t)
{
    running_due(m, t, TRIAL_DUE_TERM, INT64_MAX);
    running_due(m, t, TRIAL_DUE_KILL,
                clock_monotonic_ns() + m->x->grace_ms * 1000000 + GIVE_UP_NS);
    signal_wrapper(t, SIGTERM);
}

/* It does not run, or not yet again; frees t. */
static void
settle(struct manager *m, struct trial *t, enum trial_stop stop)
{
    t->stop = stop;
    if (stop == STOP_FINISH)
        reading_finish(m, t);
    if (!t->latest.given)
        t->latest = t->earlier;
    running_enter(m, t, trial_judge(t, &t->outcome));
    running_conclude(m, t);
}

/* Nobody is told an end; where a signal had ended it, that was the manager's,
 * too, and whoever resumes finds it so.  Frees t. */
static void
leave(struct manager *m, struct trial *t)
{
    if (t->due[TRIAL_DUE_JUDGE].place > 0 && t->stop == STOP_NOT)
        record_stop(m, t, STOP_INTERRUPT);
    running_leave(m, t);
}

/* Whether a reason to end comes too late for one that runs, or has run: it said
 * before that it is done; or its next attempt is told so, at the same place. */
static bool
is_late(const struct manager *m, const struct trial *t)
{
    return t->state != TRIAL_PREPARING &&
           ((t->done && m->delivery->immediate) ||
            (t->stop == STOP_INTERRUPT && m->delivery->repeats));
}

/* The end of one that has exited is not known to anybody yet: the user's word
 * counts, who does not wait for a dispatcher that is slow or hangs, and what
 * the last report that is not answered yet leads to. */
static bool
counts(const struct manager *m, const struct trial *t, enum trial_stop stop)
{
    return !trial_exited(t) ||
           (!t->past.end_told && !t->past.recorded &&
            (stop != STOP_ASSESSOR || m->delivery->hears_late(t)));
}

/* What was reported before a reason to end counts, but where a decision of the
 * tuner was made about less, or the attempt is made again. */
static bool
feed_first(struct manager *m, struct trial *t, enum trial_stop stop)
{
    if (stop != STOP_INTERRUPT || !m->delivery->repeats)
        reading_feed(m, t);
    return !is_late(m, t);
}

void
running_stop(struct manager *m, struct trial *t, enum trial_stop stop)
{
    unsigned effects = trial_step(t, trial_event_of(stop)).effects;

    if (m->delivery->postpones(t, stop))
        return;
    if (effects & TRIAL_TERMINATE)
        terminate(m, t);
    if ((effects & TRIAL_RECORD) && is_late(m, t))
        return;
    if ((effects & TRIAL_FEED) && !feed_first(m, t, stop))
        return;
    if ((effects & TRIAL_RECORD) && counts(m, t, stop))
        record_stop(m, t, stop);
    if (effects & TRIAL_HALT)
        m->delivery->stopped(m, t);
    if (effects & TRIAL_PRESS)
        running_press(m, t);
    if (effects & TRIAL_SETTLE)
        settle(m, t, stop);
    if (effects & TRIAL_CONCLUDE) {
        running_enter(m, t, TRIAL_CANCELLED);
        running_conclude(m, t);
    }
    if (effects & TRIAL_LEAVE)
        leave(m, t);
}

void
running_defied(struct manager *m, struct trial *t)
{
    if (trial_step(t, TRIAL_ON_DEFIANCE).effects & TRIAL_TERMINATE)
        terminate(m, t);
}

void
running_done(struct manager *m, struct trial *t)
{
    t->done = true;
    running_due(m, t, TRIAL_DUE_LIMIT, INT64_MAX);
    running_due(m, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (trial_step(t, TRIAL_ON_DONE).effects & TRIAL_TERMINATE)
        terminate(m, t);
}

/* Whoever waits to be told so is, and ends within the grace.  So does who knows
 * its budget; who does not is seen by what it reports behind it. */
static bool
ends_by_itself(const struct manager *m, const struct trial *t)
{
    if (trial_stops_well(t))
        return reading_count(m, t).intermediates <= t->counted.intermediates;
    return t->stop == STOP_ASSESSOR && holding_hears(&t->holding);
}

void
running_press(struct manager *m, struct trial *t)
{
    running_due(m, t, TRIAL_DUE_LIMIT, INT64_MAX);
    running_due(m, t, TRIAL_DUE_IDLE, INT64_MAX);
    if (ends_by_itself(m, t))
        running_due(m, t, TRIAL_DUE_TERM,
                    clock_monotonic_ns() + m->x->grace_ms * 1000000);
    else
        terminate(m, t);
    holding_answer_all(&t->holding, trial_answer(t));
}

void
running_press_late(struct manager *m, struct trial *t)
{
    if (t->stop == STOP_INTERRUPT) /* a second SIGTERM would end its grace */
        running_due(m, t, TRIAL_DUE_TERM,
                    clock_monotonic_ns() + m->x->grace_ms * 1000000);
    else
        running_press(m, t);
}

void
running_interrupt_all(struct manager *m)
{
    struct trial *t, *next;

    if (m->interrupting)
        return; /* a second SIGTERM would end the grace */
    m->interrupting = true;
    for (t = m->live; t != NULL; t = next) {
        next = t->next;
        running_stop(m, t, STOP_INTERRUPT);
    }
}

/* A signal that ended the trial was meant for its manager, too, should it come
 * there: as at the end of a batch job or of a terminal. */
void
running_ended(struct manager *m, struct trial *t)
{
    t->ended_ns = clock_monotonic_ns();
    if (t->stop == STOP_NOT && !m->interrupting && !t->past.end_told &&
        !t->past.recorded && !t->done && outcome_by_signal(&t->outcome))
        running_due(m, t, TRIAL_DUE_JUDGE, t->ended_ns + SAME_SIGNAL_NS);
}

/* A second SIGTERM ends the wrapper's grace. */
void
running_hurry_all(struct manager *m)
{
    for (struct trial *t = m->live; t != NULL; t = t->next)
        if (t->state == TRIAL_RUNNING || t->state == TRIAL_PREPARING) {
            running_due(m, t, TRIAL_DUE_TERM, INT64_MAX);
            running_due(m, t, TRIAL_DUE_KILL,
                        clock_monotonic_ns() + GIVE_UP_NS);
            signal_wrapper(t, SIGTERM);
        }
}

static void
limit_over(void *ctx, void *of)
{
    running_stop(ctx, of, STOP_TIMEOUT);
}

/* Set when it was started: what it has reported since has moved it. */
static void
idle_over(void *ctx, void *of)
{
    struct manager *m = ctx;
    struct trial *t = of;
    int64_t now = clock_monotonic_ns();
    int64_t most = m->x->max_idle_ms * 1000000;

    if (reading_waits(m, t))
        t->reported_ns = now;
    else if (now >= t->reported_ns + most)
        reading_feed(m, t); /* what its file holds counts */
    if (t->state != TRIAL_RUNNING || t->stop != STOP_NOT || t->done)
        return;
    if (now >= t->reported_ns + most)
        running_stop(m, t, STOP_IDLE);
    else
        running_due(m, t, TRIAL_DUE_IDLE, t->reported_ns + most);
}

static void
patience_over(void *ctx, void *of)
{
    terminate(ctx, of);
}

static void
wrapper_given_up(void *ctx, void *of)
{
    (void)ctx;
    signal_wrapper(of, SIGKILL);
}

static void
offer_again(void *ctx, void *of)
{
    (void)of;
    placing_wake(ctx);
}

static void
no_signal_came(void *ctx, void *of)
{
    running_finish(ctx, of);
}

static void
watch_again(void *ctx, void *of)
{
    struct trial *t = of;

    if (manager_watch(ctx, t->pidfd, EPOLLIN, (uint64_t)(uintptr_t)t) != 0)
        running_due(ctx, t, TRIAL_DUE_WATCH,
                    clock_monotonic_ns() + WATCH_PAUSE_NS);
}

static void
place_given_up(void *ctx, void *of)
{
    struct manager *m = ctx;
    struct trial *t = of;
    char why[600];

    if (t->due[TRIAL_DUE_OFFER].place == 0)
        return; /* it waits for something else by now */
    snprintf(why, sizeof why,
             "it could not be started within %.0f s "
             "(placeTimeout): %.450s",
             (double)m->x->place_ms / 1e3, t->why);
    running_unplaced(m, t, why);
}

void
running_due(struct manager *m, struct trial *t, int kind, int64_t at_ns)
{
    static deadline_due *const dues[TRIAL_DUES] = {
        [TRIAL_DUE_LIMIT] = limit_over,     [TRIAL_DUE_IDLE] = idle_over,
        [TRIAL_DUE_TERM] = patience_over,   [TRIAL_DUE_KILL] = wrapper_given_up,
        [TRIAL_DUE_AGAIN] = offer_again,    [TRIAL_DUE_OFFER] = offer_again,
        [TRIAL_DUE_PLACE] = place_given_up, [TRIAL_DUE_JUDGE] = no_signal_came,
        [TRIAL_DUE_WATCH] = watch_again,
    };
    struct deadline *d = &t->due[kind];

    d->due = dues[kind];
    d->of = t;
    if (deadlines_set(&m->deadlines, d, at_ns) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
}
