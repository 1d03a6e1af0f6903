/* SPDX-License-Identifier: MIT */
#include "dispatcher/snapshotter.h"

#include "dispatcher/emission.h"
#include "dispatcher/errand.h"
#include "dispatcher/logio.h"
#include "dispatcher/snapshot.h"

#include <stdlib.h>

struct snapshotter {
    struct errand *errand;
    struct snapshotter_setup setup;
    /* the thread's while it is asked, else the reader's */
    struct snapshot snapshot;
    struct snapshotter_news news;
    uint64_t whole; /* the segment of the last one, where it had all parts */
};

/* ---- what is done ---- */

static bool
is_whole(const struct snapshot *s)
{
    return s->has[SENDER_DEFAULT] && s->has[SENDER_ASSESSOR] &&
           s->has[SENDER_ROUTER];
}

/* A side that it lacks is replayed from the first segment on. */
static bool
is_of_use(const struct snapshotter *s)
{
    const struct snapshot *snap = &s->snapshot;

    return is_whole(snap) ||
           ((snap->has[SENDER_DEFAULT] || snap->has[SENDER_ASSESSOR]) &&
            segments_complete(s->setup.folder));
}

static void
write_it(struct snapshotter *s)
{
    struct snapshotter_news *news = &s->news;

    if (!is_of_use(s))
        return;
    if (snapshot_write(&s->snapshot, s->setup.folder, s->setup.io,
                       &news->err) != 0)
        news->written_failed = true;
    else
        news->size = snapshot_size(&s->snapshot);
}

/* What the older one of two whole snapshots in a row stands for may go; to be
 * compressed nothing need stand for it. */
static uint64_t
retired_upto(const struct snapshotter *s, uint64_t whole_before)
{
    if (s->setup.policy == OLD_DROP)
        return s->whole != 0 ? whole_before : 0;
    return s->snapshot.segment - 1;
}

static int
retire(struct snapshotter *s, uint64_t whole_before)
{
    struct snapshotter_news *news = &s->news;
    uint64_t upto = retired_upto(s, whole_before);

    if (segments_forget(s->setup.folder, s->setup.io, &news->retire_err) != 0)
        return -1;
    if (upto == 0)
        return 0;
    return segments_retire(s->setup.folder, upto, s->setup.policy, s->setup.io,
                           news->retired, &news->retire_err);
}

static void
work(void *ctx)
{
    struct snapshotter *s = ctx;
    uint64_t whole_before = s->whole;

    s->news = (struct snapshotter_news){0};
    write_it(s);
    s->whole =
        s->news.size > 0 && is_whole(&s->snapshot) ? s->snapshot.segment : 0;
    if (!s->news.written_failed)
        s->news.retire_failed = retire(s, whole_before) != 0;
    snapshot_fini(&s->snapshot);
}

/* ---- the thread ---- */

struct snapshotter *
snapshotter_start(const struct snapshotter_setup *setup, struct err *err)
{
    struct snapshotter *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "snapshot: out of memory");
        return NULL;
    }
    s->setup = *setup;
    if (s->setup.io == NULL)
        s->setup.io = &logio_system;
    s->errand = errand_start(work, s, setup->wake, err);
    if (s->errand != NULL)
        return s;
    err_place(err, "snapshot");
    free(s);
    return NULL;
}

void
snapshotter_stop(struct snapshotter *s)
{
    if (s == NULL)
        return;
    errand_stop(s->errand);
    free(s);
}

void
snapshotter_give(struct snapshotter *s, struct snapshot *snapshot)
{
    s->snapshot = *snapshot;
    snapshot_init(snapshot);
    errand_ask(s->errand);
}

bool
snapshotter_take(struct snapshotter *s, struct snapshotter_news *out)
{
    if (!errand_take(s->errand))
        return false;
    *out = s->news;
    return true;
}
