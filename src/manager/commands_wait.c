/* SPDX-License-Identifier: MIT */
/* Who waits for an event: a listener on the bus that answers. */
#include "manager/commands_table.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "manager/happened.h"
#include "manager/state.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct waiter {
    struct manager *m;
    struct waiter *next, *previous; /* of m->commands.waiters */
    uint64_t asker, listener;
    uint64_t left; /* events it has not heard */
    bool answers;  /* at this moment, during which it may be found gone */
    bool gone;
};

static void
forget(struct waiter *w)
{
    if (w->next != NULL)
        w->next->previous = w->previous;
    *(w->previous != NULL ? &w->previous->next : &w->m->commands.waiters) =
        w->next;
    free(w);
}

static int
hear(void *ctx, const struct event *event, struct err *err)
{
    struct waiter *w = ctx;
    bool last = --w->left == 0;

    (void)err;
    w->answers = true;
    commands_answer(w->m, w->asker, event->json);
    w->answers = false;
    if (w->gone && !last)
        events_off(&w->m->events, w->listener);
    if (w->gone || last)
        forget(w);
    return 0;
}

static void
over(void *ctx, enum events_over why)
{
    struct waiter *w = ctx;

    w->answers = true;
    commands_answer(w->m, w->asker,
                    why == EVENTS_TIMEOUT ? "{\"over\": \"timeout\"}"
                                          : "{\"over\": \"ended\"}");
    forget(w);
}

void
commands_wait_left(void *manager, uint64_t asker)
{
    struct manager *m = manager;
    struct waiter *w = m->commands.waiters, *next;

    for (; w != NULL; w = next) {
        next = w->next;
        if (w->asker != asker)
            continue;
        w->gone = true;
        if (w->answers)
            continue;
        events_off(&m->events, w->listener);
        forget(w);
    }
}

static int
read_count(struct jval request, const char *key, uint64_t *out, struct err *err)
{
    struct jval v;

    if (!jval_get(request, key, &v))
        return 0;
    if (!jval_uint(v, out) || *out < 1 || *out > INT64_MAX / 1000000)
        return err_set(err, ERR_INPUT, "%s: expected an integer above 0", key);
    return 0;
}

static int
listen_for(struct manager *m, const char *glob, uint64_t count,
           uint64_t timeout_ms, struct err *err)
{
    struct waiter *w = malloc(sizeof *w);
    const struct events_listener l = {
        .glob = glob,
        .who = "wait",
        .hear = hear,
        .over = over,
        .ctx = w,
        .times = count,
        .deadline_ns = timeout_ms == 0 ? 0
                                       : clock_monotonic_ns() +
                                             (int64_t)timeout_ms * 1000000,
    };

    if (w == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    *w = (struct waiter){.m = m, .asker = commands_asker(m), .left = count};
    w->listener = events_listen(&m->events, &l, err);
    if (w->listener == 0) {
        free(w);
        return -1;
    }
    w->next = m->commands.waiters;
    if (w->next != NULL)
        w->next->previous = w;
    m->commands.waiters = w;
    return 0;
}

int
commands_wait(struct manager *m, struct jval request, struct buf *reply,
              struct err *err)
{
    uint64_t count = 1, timeout_ms = 0;
    uint32_t wanted;
    const char *glob;
    struct jval v;

    if (!jval_get(request, "event", &v) || !jval_string(v, &glob, NULL))
        return err_set(err, ERR_INPUT, "event: expected a text");
    if (read_count(request, "count", &count, err) != 0 ||
        read_count(request, "timeout_ms", &timeout_ms, err) != 0)
        return -1;
    wanted = event_names_like(glob, err);
    if (wanted == 0)
        return -1;
    if (!m->events.closed)
        return listen_for(m, glob, count, timeout_ms, err);
    if ((wanted >> EVENT_EXPERIMENT_ENDED & 1) != 0 && count == 1)
        happened_over(m, reply);
    else
        buf_add_text(reply, "{\"over\": \"ended\"}");
    return 0;
}
