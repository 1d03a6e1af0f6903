/* SPDX-License-Identifier: MIT */
#include "dispatcher/snapshotting.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "log/lock.h"
#include "log/writer.h"

#include <stdlib.h>
#include <string.h>

#define MARKER LOCKFILE_SAVING

enum phase {
    IDLE,
    COLLECTS, /* waits for the workers' parts */
    SYNCS, /* waits until the frames sent before the parts are on stable storage
            */
    WRITES,
};

struct snapshotting {
    struct snapshotting_setup setup; /* read by any thread */
    enum phase phase;
    struct snapshot snapshot;
    bool awaited[2];   /* by sender: its part has not come yet */
    bool unsavable[2]; /* by sender: it is not asked for a part (any more) */
    struct snapshotter *writer; /* NULL: no snapshot was written yet */
};

struct snapshotting *
snapshotting_new(const struct snapshotting_setup *setup, struct err *err)
{
    struct snapshotting *s = calloc(1, sizeof *s);

    if (s == NULL) {
        err_set(err, ERR_MEMORY, "snapshots: out of memory");
        return NULL;
    }
    s->setup = *setup;
    memcpy(s->unsavable, setup->unsavable, sizeof s->unsavable);
    snapshot_init(&s->snapshot);
    return s;
}

void
snapshotting_free(struct snapshotting *s)
{
    if (s == NULL)
        return;
    snapshotter_stop(s->writer);
    snapshot_fini(&s->snapshot);
    free(s);
}

/* ---- the workers' part ---- */

bool
snapshotting_is_marker(uint64_t arrival)
{
    return arrival == MARKER;
}

void
snapshotting_save(const struct snapshotting *s, enum sender side)
{
    const struct session *session = s->setup.session;
    struct emission e = {.kind = EMISSION_PART, .sender = side};
    struct buf part;
    struct err err;
    bool never;
    int rc;

    buf_init(&part, SNAPSHOT_PART_MAX);
    rc = session_save(session, side, &part, &err);
    if (rc > 0 && buf_check(&part, "snapshot", &err) != 0)
        rc = -1;
    /* the plugin has no save(); it does not just lack its search space */
    never = rc == 0 && side_is_set(session->sides[side]);
    if (rc < 0)
        log_warning(s->setup.log,
                    "snapshot: %s; tried again with the next segment",
                    err.text);
    else if (never)
        log_info(s->setup.log,
                 "snapshot: without the %s, whose plugins do not all "
                 "have a save: it is replayed when the session goes on",
                 side == SENDER_DEFAULT ? "tuner" : "assessor");
    e.cause = never ? MARKER : 0;
    e.part = rc > 0 ? malloc(sizeof part) : NULL; /* NULL: there is none */
    if (e.part != NULL)
        *e.part = part;
    else
        buf_fini(&part);
    outbox_add(s->setup.outbox, &e);
}

/* ---- the main thread's ---- */

static void
go_idle(struct snapshotting *s)
{
    s->phase = IDLE;
    snapshot_fini(&s->snapshot);
    snapshot_init(&s->snapshot);
}

/* Asks a side for its part, by a marker in its queue; where that cannot be
 * pushed, the side has no part this time. */
static void
push_marker(struct snapshotting *s, enum sender side)
{
    struct command *marker = calloc(1, sizeof *marker);
    struct chain chain = {0};
    size_t length;

    if (marker == NULL)
        return;
    /* a side that is asked to handle it passes over it */
    marker->code = CMD_PING;
    marker->arrival = MARKER;
    chain_add(&chain, marker);
    s->awaited[side] = queue_push(s->setup.queues[side], &chain, &length);
}

bool
snapshotting_is_busy(const struct snapshotting *s)
{
    return s->phase != IDLE;
}

void
snapshotting_begin(struct snapshotting *s, uint64_t arrival)
{
    struct err err;

    if (s->phase != IDLE)
        return;
    s->phase = COLLECTS;
    s->snapshot.segment = logwriter_segment(s->setup.commandlog) - 1;
    s->snapshot.arrival = arrival;
    s->snapshot.head = s->setup.head_sum;
    if (s->unsavable[SENDER_DEFAULT] && s->unsavable[SENDER_ASSESSOR])
        return;
    if (session_save(s->setup.session, SENDER_ROUTER,
                     &s->snapshot.parts[SENDER_ROUTER], &err) < 0) {
        log_warning(s->setup.log, "snapshot: %s", err.text);
        return;
    }
    s->snapshot.has[SENDER_ROUTER] = true;
    for (int side = 0; side < 2; side++)
        if (!s->unsavable[side])
            push_marker(s, (enum sender)side);
}

void
snapshotting_take_part(struct snapshotting *s, const struct emission *e)
{
    if (s->phase != COLLECTS || !s->awaited[e->sender])
        return;
    s->awaited[e->sender] = false;
    if (e->part == NULL) {
        s->unsavable[e->sender] = e->cause != 0;
        return;
    }
    s->snapshot.parts[e->sender] = *e->part;
    buf_init(e->part, 0);
    s->snapshot.has[e->sender] = true;
}

static void
tell_outcome(struct snapshotting *s, const struct snapshotter_news *news)
{
    if (news->written_failed)
        log_warning(s->setup.log,
                    "%s; the next one is tried with the next segment",
                    news->err.text);
    if (news->retire_failed)
        log_warning(s->setup.log, "%s", news->retire_err.text);
    if (news->retired[0] != '\0')
        log_info(s->setup.log, "%s", news->retired);
    logwriter_grow_limit(s->setup.commandlog, news->size);
}

static void
write_out(struct snapshotting *s)
{
    struct err err;

    if (s->writer == NULL)
        s->writer = snapshotter_start(&s->setup.writer, &err);
    if (s->writer == NULL) {
        log_warning(s->setup.log, "%s", err.text);
        go_idle(s);
        return;
    }
    snapshotter_give(s->writer, &s->snapshot);
    s->phase = WRITES;
}

/* Goes through the steps of a snapshot as far as nothing has to be waited
 * for. */
void
snapshotting_tend(struct snapshotting *s, bool stops)
{
    struct logwriter *log = s->setup.commandlog;
    struct snapshotter_news news;

    if (s->phase == COLLECTS && !s->awaited[SENDER_DEFAULT] &&
        !s->awaited[SENDER_ASSESSOR] && !logwriter_held(log)) {
        logwriter_hurry(log);
        s->phase = SYNCS;
    }
    if (s->phase == SYNCS && logwriter_hurried(log))
        write_out(s);
    if (s->phase == WRITES && snapshotter_take(s->writer, &news)) {
        tell_outcome(s, &news);
        go_idle(s);
    }
    if (stops && s->phase != WRITES)
        go_idle(s);
}
