/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 *   main      seals segment N, packs the router, puts a marker into each queue
 *   workers   at the marker: pack their side into the outbox
 *   main      takes the parts out of the outbox, behind every frame that was
 *             caused before them; waits until the log is durable so far
 *   snapshotter  writes the file, retires old segments
 *
 * So a snapshot is there only when the log says all that its parts have
 * said.  A side that is a program, or whose plugin cannot be saved, has no
 * part: it is replayed.  A stop gives up a snapshot that is not being written
 * yet: the log is the truth, and loses nothing by it. */

#include "dispatcher/dispatcher_state.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/session.h"
#include "dispatcher/side.h"
#include "log/snapshot.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the workers' part ---- */

static void
send_part(struct dispatcher *d, enum sender side, const struct buf *part,
          bool final)
{
    struct emission e = {.kind = EMISSION_PART,
                         .sender = side,
                         .cause = final ? MARKER_ARRIVAL : 0,
                         .payload = part->data,
                         .len = part->len};

    outbox_add(d->outbox, &e);
}

bool
dispatcher_is_marker(const struct command *cmd)
{
    return cmd->arrival == MARKER_ARRIVAL;
}

void
dispatcher_save_side(struct dispatcher *d, enum sender side)
{
    struct buf part;
    struct err err;
    bool never;
    int rc;

    buf_init(&part, SNAPSHOT_PART_MAX);
    rc = session_save(d->session, side, &part, &err);
    if (rc > 0 && buf_check(&part, "snapshot", &err) != 0)
        rc = -1;
    /* it has no save, rather than no search space yet */
    never = rc == 0 && side_is_set(d->session->sides[side]);
    if (rc < 0)
        log_warning(d->log, "snapshot: %s; tried again with the next segment",
                    err.text);
    else if (never)
        log_info(d->log,
                 "snapshot: without the %s, whose plugins do not all "
                 "have a save: it is replayed when the session goes on",
                 side == SENDER_DEFAULT ? "tuner" : "assessor");
    if (rc <= 0)
        buf_clear(&part); /* an empty part: there is none */
    send_part(d, side, &part, never);
    buf_fini(&part);
}

/* ---- the main thread's ---- */

static void
forget(struct snapping *s)
{
    s->phase = SNAPPING_NOT;
    snapshot_fini(&s->snapshot);
    snapshot_init(&s->snapshot);
}

static bool
push_marker(struct dispatcher *d, struct drain *side, enum sender sender)
{
    struct command *marker = calloc(1, sizeof *marker);
    struct chain chain = {0};
    size_t length;

    if (marker == NULL)
        return false;
    marker->code = CMD_PING; /* whoever does not know it passes over it */
    marker->arrival = MARKER_ARRIVAL;
    chain_add(&chain, marker);
    d->snapping.awaited[sender] = queue_push(side->queue, &chain, &length);
    return d->snapping.awaited[sender];
}

static bool
can_save(const struct dispatcher *d, enum sender side)
{
    return !d->snapping.unsavable[side] && !dispatcher_has_program(d, side);
}

/* Nothing is under way. */
static void
begin(struct dispatcher *d)
{
    struct snapping *s = &d->snapping;
    struct err err;

    s->phase = SNAPPING_COLLECTS;
    s->snapshot.segment = logwriter_segment(d->commandlog) - 1;
    s->snapshot.arrival = d->arrivals;
    s->snapshot.head = s->head_sum;
    if (!can_save(d, SENDER_DEFAULT) && !can_save(d, SENDER_ASSESSOR))
        return;
    if (session_save(d->session, SENDER_ROUTER,
                     &s->snapshot.parts[SENDER_ROUTER], &err) < 0) {
        log_warning(d->log, "snapshot: %s", err.text);
        return;
    }
    s->snapshot.has[SENDER_ROUTER] = true;
    if (can_save(d, SENDER_DEFAULT))
        push_marker(d, &d->by_default, SENDER_DEFAULT);
    if (can_save(d, SENDER_ASSESSOR))
        push_marker(d, &d->assessor, SENDER_ASSESSOR);
}

/* The next segment may be up to twice as long for it, or else has none. */
static bool
waits_for_snapshot(const struct dispatcher *d)
{
    return d->snapping.phase != SNAPPING_NOT &&
           !logwriter_is_overlong(d->commandlog);
}

/* Between two steps: all that is on record has been taken in. */
void
dispatcher_rotate(struct dispatcher *d)
{
    struct err err;

    if (d->phase != RUNNING || d->inbound.waits ||
        !logwriter_rotation_due(d->commandlog) || waits_for_snapshot(d))
        return;
    switch (logwriter_rotate(d->commandlog, d->arrivals,
                             router_frames(d->session->router), &err)) {
    case LOGWRITER_OK:
        log_debug(d->log, LOG_NAME ": segment %" PRIu64 " begins",
                  logwriter_segment(d->commandlog));
        if (d->snapping.phase == SNAPPING_NOT)
            begin(d);
        return;
    case LOGWRITER_HELD:
        log_warning(d->log, "%s; tried again when the log has grown", err.text);
        return;
    case LOGWRITER_FAILED:
        break;
    }
    *d->err = err;
    dispatcher_fail_log(d);
}

void
dispatcher_take_part(struct dispatcher *d, const struct emission *e)
{
    struct snapping *s = &d->snapping;

    if (s->phase != SNAPPING_COLLECTS || !s->awaited[e->sender])
        return;
    s->awaited[e->sender] = false;
    if (e->len == 0) {
        s->unsavable[e->sender] = e->cause != 0;
        return;
    }
    buf_add(&s->snapshot.parts[e->sender], e->payload, e->len);
    s->snapshot.has[e->sender] = !s->snapshot.parts[e->sender].failed;
}

static void
tell(struct dispatcher *d, const struct snapshotter_news *news)
{
    if (news->written_failed)
        log_warning(d->log, "%s; the next one is tried with the next segment",
                    news->err.text);
    if (news->retire_failed)
        log_warning(d->log, "%s", news->retire_err.text);
    if (news->retired[0] != '\0')
        log_info(d->log, "%s", news->retired);
    logwriter_grow_limit(d->commandlog, news->size);
}

static int
start_snapshotter(struct dispatcher *d, struct err *err)
{
    struct snapshotter_setup setup = {
        .folder = d->setup->folder,
        .io = d->setup->log_io,
        .policy = d->setup->segments.old,
        .wake = &d->wake,
    };

    if (d->snapping.writer == NULL)
        d->snapping.writer = snapshotter_start(&setup, err);
    return d->snapping.writer == NULL ? -1 : 0;
}

static void
give(struct dispatcher *d)
{
    struct snapping *s = &d->snapping;
    struct err err;

    if (start_snapshotter(d, &err) != 0) {
        log_warning(d->log, "%s", err.text);
        forget(s);
        return;
    }
    snapshotter_give(s->writer, &s->snapshot);
    s->phase = SNAPPING_WRITES;
}

static bool
has_all(const struct dispatcher *d)
{
    const struct snapping *s = &d->snapping;

    return !s->awaited[SENDER_DEFAULT] && !s->awaited[SENDER_ASSESSOR] &&
           !logwriter_held(d->commandlog);
}

/* One step leads to the next at once where nothing is to be waited for. */
void
dispatcher_tend_snapshot(struct dispatcher *d)
{
    struct snapping *s = &d->snapping;
    struct snapshotter_news news;

    if (s->phase == SNAPPING_COLLECTS && has_all(d)) {
        logwriter_hurry(d->commandlog);
        s->phase = SNAPPING_SYNCS;
    }
    if (s->phase == SNAPPING_SYNCS && logwriter_hurried(d->commandlog))
        give(d);
    if (s->phase == SNAPPING_WRITES && snapshotter_take(s->writer, &news)) {
        tell(d, &news);
        forget(s);
    }
    if (d->phase != RUNNING && s->phase != SNAPPING_WRITES)
        forget(s);
}

void
dispatcher_end_snapshot(struct dispatcher *d)
{
    snapshotter_stop(d->snapping.writer);
    snapshot_fini(&d->snapping.snapshot);
}
