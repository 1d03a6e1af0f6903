/* SPDX-License-Identifier: MIT */
#include "dispatcher/snapshotter.h"

#include "core/wake.h"
#include "dispatcher/emission.h"
#include "dispatcher/logio.h"
#include "dispatcher/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum state { IDLE, ASKED, ANSWERED };

struct snapshotter {
    struct snapshotter_setup setup;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked; /* state is ASKED, or `stopping` */
    /* guarded by lock */
    enum state state;
    bool stopping;
    /* the thread's while ASKED, else the reader's */
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
work(struct snapshotter *s)
{
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

static void *
serve(void *arg)
{
    struct snapshotter *s = arg;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->state != ASKED && !s->stopping)
            pthread_cond_wait(&s->asked, &s->lock);
        if (s->state != ASKED)
            break;
        pthread_mutex_unlock(&s->lock);
        work(s);
        pthread_mutex_lock(&s->lock);
        s->state = ANSWERED;
        wake_signal(s->setup.wake);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

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
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->asked, NULL);
    errno = pthread_create(&s->thread, NULL, serve, s);
    if (errno == 0)
        return s;
    err_errno(err, ERR_SYSTEM, "snapshot: cannot start a thread");
    pthread_cond_destroy(&s->asked);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

void
snapshotter_stop(struct snapshotter *s)
{
    if (s == NULL)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->asked);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->asked);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void
snapshotter_give(struct snapshotter *s, struct snapshot *snapshot)
{
    s->snapshot = *snapshot;
    snapshot_init(snapshot);
    pthread_mutex_lock(&s->lock);
    s->state = ASKED;
    pthread_cond_signal(&s->asked);
    pthread_mutex_unlock(&s->lock);
}

bool
snapshotter_take(struct snapshotter *s, struct snapshotter_news *out)
{
    bool done;

    pthread_mutex_lock(&s->lock);
    done = s->state == ANSWERED;
    if (done) {
        *out = s->news;
        s->state = IDLE;
    }
    pthread_mutex_unlock(&s->lock);
    return done;
}
