/* SPDX-License-Identifier: MIT */
#include "replay/whatif.h"

#include <math.h>

static bool
better(const struct whatif *w, const struct whatif_trial *a,
       const struct whatif_trial *b)
{
    if (!a->has_final || isnan(a->final))
        return false;
    if (b == NULL)
        return true;
    return w->maximize ? a->final > b->final : a->final < b->final;
}

/* The first command at which the two decide otherwise; 0: they agree. */
static uint64_t
first_other(const struct whatif_trial *t)
{
    const struct whatif_stop *a = &t->really, *b = &t->then;

    if (a->stops && b->stops && a->arrival == b->arrival)
        return 0;
    if (a->stops && (!b->stops || a->arrival < b->arrival))
        return a->arrival;
    return b->stops ? b->arrival : 0;
}

static void
judge_trial(struct whatif *w, struct whatif_trial *t)
{
    uint64_t other = first_other(t);

    w->steps += t->steps;
    w->stopped_really += t->really.stops;
    w->stopped_then += t->then.stops;
    w->stopped_same += t->then.stops && t->really.stops && other == 0;
    t->unknown = t->really.stops && !t->then.stops;
    w->unknown += t->unknown;
    if (other != 0 && (w->first == 0 || other < w->first)) {
        w->first = other;
        w->first_trial = t;
    }
    if (better(w, t, w->best))
        w->best = t;
    if (!t->then.stops && better(w, t, w->best_left))
        w->best_left = t;
    if (!t->then.stops || other == 0)
        return;
    if (t->steps > t->then.step + 1)
        t->saved_steps = t->steps - t->then.step - 1;
    if (t->end_us > t->then.time_us)
        t->saved_s = (double)(t->end_us - t->then.time_us) / 1e6;
    w->saved_steps += t->saved_steps;
    w->saved_s += t->saved_s;
}

void
whatif_judge(struct whatif *w, int64_t last_us)
{
    for (size_t i = 0; i < w->n; i++) {
        if (!w->trials[i].ended)
            w->trials[i].end_us = last_us;
        judge_trial(w, &w->trials[i]);
    }
    for (size_t i = 0; i < w->n && w->first != 0; i++) {
        w->trials[i].open = w->trials[i].given_out > w->first;
        w->open += w->trials[i].open;
    }
}
