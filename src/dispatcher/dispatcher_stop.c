/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher_state.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "log/lock.h"
#include "log/writer.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Whether what comes in is at its end, read so far or not. */
static bool
is_orphan(const struct dispatcher *d)
{
    struct pollfd in = {.fd = d->channel.in, .events = POLLRDHUP};

    return (d->phase != RUNNING && d->end == DISPATCHER_END_OF_FILE) ||
           (poll(&in, 1, 0) > 0 &&
            (in.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0);
}

/* The grace is what a stop takes at most. */
static void
say_that_it_leaves(struct dispatcher *d)
{
    loglock_answer(logwriter_lock(d->commandlog),
                   (uint64_t)d->setup->grace_ms + 1);
}

void
dispatcher_answer(struct dispatcher *d)
{
    struct loglock *lock = logwriter_lock(d->commandlog);

    if (!loglock_asked(lock))
        return;
    if (is_orphan(d)) {
        say_that_it_leaves(d);
        return;
    }
    loglock_answer(lock, LOCKFILE_STAYS); /* as far as we know */
    if (d->setup->wanted != NULL)
        wake_signal(d->setup->wanted);
}

void
dispatcher_stop(struct dispatcher *d, enum phase phase, enum dispatcher_end end)
{
    if (d->phase != RUNNING && phase <= d->phase)
        return;
    if (phase == TERMINATING) {
        atomic_store(&d->closing, true);
        channel_drop(&d->channel);
    }
    if (d->end != DISPATCHER_FAILED)
        d->end = end; /* a signal may cut short what an end of file began */
    if (d->phase == RUNNING) {
        dispatcher_take_back(d);
        d->deadline_ns = clock_monotonic_ns() + d->setup->grace_ms * 1000000;
        queue_close(d->by_default.queue);
        queue_close(d->assessor.queue);
    }
    d->phase = phase;
    if (is_orphan(d))
        say_that_it_leaves(d);
}

/* d->err is set; tells the peer where the wire has a word for it. */
void
dispatcher_fail(struct dispatcher *d, enum phase phase)
{
    struct emission e = {.sender = SENDER_ROUTER,
                         .cause = d->arrivals,
                         .code = CMD_ERROR,
                         .payload = d->err->text,
                         .len = strlen(d->err->text)};

    if (d->session->policy.extensions && d->phase == RUNNING)
        outbox_add(d->outbox, &e);
    dispatcher_stop(d, phase, DISPATCHER_FAILED);
    d->end = DISPATCHER_FAILED;
}

/* A session that goes on handles it first; but a request that a stop drops is
 * void. */
static void
record_left(struct dispatcher *d, const struct drain *side, uint64_t arrival,
            bool is_void)
{
    char text[80];
    int len = snprintf(text, sizeof text, "%s left by the stop",
                       is_void ? "t" : side->letter);

    logwriter_add(d->commandlog, RECORD_SKIPPED, arrival, text, (size_t)len);
}

static void
note_left(struct dispatcher *d, uint64_t busy, size_t waiting)
{
    char text[64] = "";

    d->left = true;
    if (busy == MARKER_ARRIVAL)
        snprintf(text, sizeof text, " while a snapshot was being taken");
    else if (busy != 0)
        snprintf(text, sizeof text,
                 " while command %" PRIu64 " was being handled", busy);
    log_error(d->log,
              "stopped after the grace of %" PRId64 " ms%s, %zu more waited",
              d->setup->grace_ms, text, waiting);
}

/* The grace is over, or a worker gave up: what it was in and what still waits
 * for it is recorded as left.  A worker may go on meanwhile: first its queue
 * is taken away, then the outbox emptied, so that the frames of each command
 * that is not called left are all in the log. */
static void
record_rest(struct dispatcher *d)
{
    const struct drain *sides[2] = {&d->by_default, &d->assessor};
    struct chain left[2];
    uint64_t busy[2];
    struct command *next;

    for (int i = 0; i < 2; i++) {
        left[i] = queue_abandon(sides[i]->queue, &busy[i]);
        if (atomic_load(&sides[i]->worker.failed))
            busy[i] = 0; /* it was handled as far as it can be */
        else if (busy[i] != 0 || left[i].count > 0)
            note_left(d, busy[i], left[i].count);
    }
    dispatcher_take_outbox(d);
    for (int i = 0; i < 2; i++) {
        if (busy[i] != 0 && busy[i] != MARKER_ARRIVAL)
            record_left(d, sides[i], busy[i], false);
        for (struct command *cmd = left[i].first; cmd != NULL; cmd = next) {
            next = cmd->next;
            if (!dispatcher_is_marker(cmd))
                record_left(d, sides[i], cmd->arrival,
                            d->phase == TERMINATING &&
                                cmd->code == CMD_REQUEST_TRIALS);
            command_free(cmd);
        }
    }
}

static const char *
end_text(const struct dispatcher *d)
{
    switch (d->end) {
    case DISPATCHER_END_OF_FILE:
        return "end of file";
    case DISPATCHER_TERMINATED:
        return "terminated";
    case DISPATCHER_SIGNALLED:
        return "signalled";
    case DISPATCHER_FAILED:
        return d->err->text;
    case DISPATCHER_GRACE_OVER:
        break;
    }
    return "grace over";
}

void
dispatcher_record_end(struct dispatcher *d)
{
    bool at_work = dispatcher_kill_programs(d);

    record_rest(d);
    if (d->end != DISPATCHER_FAILED && (d->left || at_work)) {
        d->end = DISPATCHER_GRACE_OVER;
    } else if (d->end != DISPATCHER_FAILED && d->phase != TERMINATING &&
               channel_pending(&d->channel) > 0) {
        err_set(d->err, ERR_PROTOCOL,
                "output: %zu bytes were not read within the grace of %" PRId64
                " ms",
                channel_pending(&d->channel), d->setup->grace_ms);
        d->end = DISPATCHER_FAILED;
    }
    dispatcher_close_log(d, end_text(d));
}
