/* SPDX-License-Identifier: MIT */
#include "manager/scheduler.h"

static uint64_t
least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool
is_full(const struct scheduler *s)
{
    return s->max_trials > 0 && s->started >= s->max_trials;
}

/* After a failure the tuner is asked again when a trial has ended; when there
 * is no trial to wait for it is asked at once, but not for ever. */
#define REFUSALS_MAX 3

static bool
may_ask(const struct scheduler *s)
{
    return !s->refused ||
           (s->live == 0 && s->owed == 0 && s->refusals < REFUSALS_MAX);
}

uint64_t
scheduler_wants(const struct scheduler *s)
{
    uint64_t busy = s->live + s->owed;
    uint64_t most = s->concurrency + s->ahead, left = UINT64_MAX;

    if (s->exhausted || !may_ask(s) || s->closed || s->paused || busy >= most)
        return 0;
    if (s->max_trials > 0)
        left = s->max_trials - least(s->max_trials, s->started + s->owed);
    return least(most - busy, left);
}

void
scheduler_asked(struct scheduler *s, uint64_t n)
{
    s->owed += n;
    if (n > 0)
        s->refused = false;
}

uint64_t
scheduler_most(const struct scheduler *s)
{
    uint64_t room = s->concurrency + s->ahead, left = UINT64_MAX;

    room -= least(room, s->live);
    if (s->max_trials > 0)
        left = s->max_trials - least(s->max_trials, s->started);
    if (s->exhausted)
        left = least(left, s->owed);
    return s->live + (s->closed ? 0 : least(room, left));
}

bool
scheduler_take(struct scheduler *s)
{
    if (s->owed > 0)
        s->owed--;
    if (s->closed || is_full(s))
        return false;
    s->started++;
    s->live++;
    s->refusals = 0;
    return true;
}

void
scheduler_repeated(struct scheduler *s)
{
    if (s->owed > 0)
        s->owed--;
}

void
scheduler_owes(struct scheduler *s, uint64_t units)
{
    s->owed = units;
}

void
scheduler_restored(struct scheduler *s, bool live)
{
    s->started++;
    s->live += live;
}

void
scheduler_hear_end(void *s, const struct attempt_end *end)
{
    if (end->how != ATTEMPT_REPLACED)
        scheduler_ended(s);
}

void
scheduler_ended(struct scheduler *s)
{
    s->live--;
    s->refused = false;
    s->refusals = 0;
}

void
scheduler_exhausted(struct scheduler *s, uint64_t units)
{
    s->owed -= least(units, s->owed);
    s->exhausted = true;
}

void
scheduler_refused(struct scheduler *s, uint64_t units)
{
    s->owed -= least(units, s->owed);
    s->refusals += !s->refused;
    s->refused = true;
}

void
scheduler_forget_refusals(struct scheduler *s)
{
    s->refused = false;
    s->refusals = 0;
}

void
scheduler_close(struct scheduler *s)
{
    s->closed = true;
}

enum scheduler_end
scheduler_end(const struct scheduler *s)
{
    if (s->live > 0)
        return SCHEDULER_GOING;
    if (s->closed)
        return SCHEDULER_CLOSED;
    if (is_full(s))
        return SCHEDULER_COMPLETE;
    if (s->owed > 0)
        return SCHEDULER_GOING;
    if (s->exhausted)
        return SCHEDULER_EXHAUSTED;
    return s->refusals >= REFUSALS_MAX ? SCHEDULER_REFUSED : SCHEDULER_GOING;
}
