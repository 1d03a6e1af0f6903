/* SPDX-License-Identifier: MIT */
#include "manager/syncing.h"

#include "core/clock.h"
#include "core/errand.h"

#include <unistd.h>

static void
sync_file(void *ctx)
{
    const struct syncing *s = ctx;

    fdatasync(*s->fd); /* the log is what has to be durable */
}

static void
set(struct syncing *s)
{
    int64_t ms = s->policy->when == SYNC_ALWAYS ? 1 : s->policy->interval_ms;

    deadlines_set(s->deadlines, &s->due, clock_monotonic_ns() + ms * 1000000);
}

/* Where there can be no thread it is synced here. */
static void
begin(void *ctx, void *of)
{
    struct syncing *s = of;

    (void)ctx;
    if (s->busy && !errand_take(s->errand)) {
        set(s);
        return;
    }
    s->busy = false;
    if (!s->more)
        return;
    s->more = false;
    if (s->errand == NULL) {
        s->wake.fd = -1;
        s->errand = errand_start(sync_file, s, &s->wake, NULL);
    }
    if (s->errand == NULL) {
        sync_file(s);
        return;
    }
    errand_ask(s->errand);
    s->busy = true;
}

void
syncing_appended(struct syncing *s)
{
    s->more = true;
    if (s->policy->when == SYNC_NONE || s->due.place != 0)
        return;
    s->due.due = begin;
    s->due.of = s;
    set(s);
}

void
syncing_close(struct syncing *s)
{
    deadlines_drop(s->deadlines, &s->due);
    errand_stop(s->errand);
    if (s->more)
        sync_file(s);
    s->errand = NULL;
    s->more = s->busy = false;
}
