/* SPDX-License-Identifier: MIT */
/* attempt_end.h - who has to know when an attempt at a trial is over.  Each
 * part that draws a consequence from it subscribes once, when the manager
 * opens, and hears of every one in the order of the subscriptions.  What
 * somebody outside the manager may want to know goes on from there as an event
 * (events.h).  One thread. */
#ifndef MANAGER_ATTEMPT_END_H
#define MANAGER_ATTEMPT_END_H

#include <assert.h>
#include <stddef.h>

struct trial;

enum attempt_end_how {
    ATTEMPT_JUDGED,   /* for good, in a state of its own */
    ATTEMPT_LEFT,     /* interrupted: `resume` takes it up */
    ATTEMPT_REPLACED, /* another attempt takes its place */
};

struct attempt_end {
    enum attempt_end_how how;
    struct trial *trial; /* freed when all have heard */
    double seconds;      /* how long it ran */
    struct trial *next;  /* that attempt; else NULL */
};

typedef void attempt_end_hear(void *ctx, const struct attempt_end *end);

#define ATTEMPT_END_LISTENERS 24

/* A zeroed one has no listeners. */
struct attempt_ends {
    struct {
        attempt_end_hear *hear;
        void *ctx;
    } listeners[ATTEMPT_END_LISTENERS];
    size_t n;
};

static inline void
attempt_ends_on(struct attempt_ends *e, attempt_end_hear *hear, void *ctx)
{
    assert(e->n < ATTEMPT_END_LISTENERS);
    e->listeners[e->n].hear = hear;
    e->listeners[e->n++].ctx = ctx;
}

static inline void
attempt_ends_tell(const struct attempt_ends *e, const struct attempt_end *end)
{
    for (size_t i = 0; i < e->n; i++)
        e->listeners[i].hear(e->listeners[i].ctx, end);
}

#endif
