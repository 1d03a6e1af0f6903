/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/stop_signals.h"
#include "dispatcher/dispatcher_state.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/side.h"
#include "log/lock.h"
#include "log/writer.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* DESIGN
 *
 * One poll loop.  While RUNNING it reads, unless too much waits in queues and
 * outbox.  A stop closes both queues; the workers then finish what is in
 * them, and the loop goes on logging and writing until both have finished or
 * the grace is over.  After Terminate or a signal requests are dropped and
 * nothing is written to the manager any more, but all is logged. */

#define WARN_LENGTH 20 /* of a queue; then each doubling */
#define CACHE_LINE 64

/* ---- what the workers do ---- */

static void
note_skipped(struct dispatcher *d, uint64_t arrival, const char *text)
{
    struct emission e = {.kind = EMISSION_SKIPPED,
                         .sender = SENDER_DEFAULT,
                         .cause = arrival,
                         .payload = text,
                         .len = strlen(text)};

    outbox_add(d->outbox, &e);
}

static int
handle_default(void *ctx, const struct command *cmd, struct err *err)
{
    struct dispatcher *d = ctx;
    struct side *side = d->session->sides[SENDER_DEFAULT];

    if (dispatcher_is_marker(cmd)) {
        dispatcher_save_side(d, SENDER_DEFAULT);
        return 0;
    }
    if (!d->closed && atomic_load(&d->closing)) {
        d->closed = true;
        side_close(side);
        note_skipped(d, cmd->arrival, "o what is owed is dropped from here");
    }
    if (side_drops(side, cmd))
        note_skipped(d, cmd->arrival, "t a request, dropped by the stop");
    return side_command(side, cmd, err);
}

static int
handle_assessor(void *ctx, const struct command *cmd, struct err *err)
{
    struct dispatcher *d = ctx;

    if (dispatcher_is_marker(cmd)) {
        dispatcher_save_side(d, SENDER_ASSESSOR);
        return 0;
    }
    return side_command(d->session->sides[SENDER_ASSESSOR], cmd, err);
}

/* ---- the loop ---- */

static void
take_signal(struct dispatcher *d)
{
    struct signalfd_siginfo info;

    if (read(d->signal_fd, &info, sizeof info) != sizeof info)
        return;
    d->signal_number = (int)info.ssi_signo;
    dispatcher_stop(d, TERMINATING, DISPATCHER_SIGNALLED);
}

static void
look_at_worker(struct dispatcher *d, const struct drain *side)
{
    if (!atomic_load(&side->worker.failed) || d->end == DISPATCHER_FAILED)
        return;
    *d->err = side->worker.err;
    dispatcher_fail(d, DRAINING);
}

static int
timeout_ms(const struct dispatcher *d)
{
    int64_t at = logwriter_next_ns(d->commandlog);
    int64_t program = dispatcher_program_time(d);
    int64_t left;

    if (program != 0 && (at == 0 || program < at))
        at = program;
    if (d->phase != RUNNING && (at == 0 || d->deadline_ns < at))
        at = d->deadline_ns;
    if (at == 0)
        return -1;
    left = at - clock_monotonic_ns();
    if (left <= 0)
        return 0;
    left = (left + 999999) / 1000000;
    return left < INT_MAX ? (int)left : INT_MAX;
}

static bool
may_read(struct dispatcher *d)
{
    return d->phase == RUNNING && !dispatcher_log_holds(d) &&
           !gauge_holds(&d->gauge, outbox_bytes(d->outbox) +
                                       channel_pending(&d->channel) +
                                       dispatcher_program_bytes(d));
}

static bool
may_write(const struct dispatcher *d)
{
    return channel_pending(&d->channel) > 0 && !logwriter_held(d->commandlog);
}

static bool
workers_finished(const struct dispatcher *d)
{
    return atomic_load(&d->by_default.worker.finished) &&
           atomic_load(&d->assessor.worker.finished);
}

/* Whether the stop is complete: all handled, logged and written. */
static bool
finished(struct dispatcher *d)
{
    bool ended;

    if (d->phase == RUNNING)
        return false;
    ended = dispatcher_end_programs(d); /* whatever the workers are at */
    if (!ended || !workers_finished(d))
        return false;
    look_at_worker(d, &d->by_default); /* its last command may have failed */
    look_at_worker(d, &d->assessor);
    if (logwriter_held(d->commandlog))
        return false;
    dispatcher_take_outbox(d);
    dispatcher_write(d);
    return channel_pending(&d->channel) == 0 && !logwriter_held(d->commandlog);
}

static void
step(struct dispatcher *d)
{
    struct pollfd fds[5 + 2 * COMPANION_POLLS] = {
        {.fd = d->signal_fd, .events = POLLIN},
        {.fd = d->wake.fd, .events = POLLIN},
        {.fd = may_read(d) ? d->channel.in : -1, .events = POLLIN},
        {.fd = may_write(d) ? d->channel.out : -1, .events = POLLOUT},
        {.fd = logwriter_lock(d->commandlog)->asked_fd, .events = POLLIN},
    };

    dispatcher_poll_programs(d, fds + 5);
    if (poll(fds, sizeof fds / sizeof *fds, timeout_ms(d)) < 0)
        return; /* EINTR */
    if (fds[0].revents != 0)
        take_signal(d);
    if (fds[1].revents != 0)
        wake_drain(&d->wake);
    if (d->phase == RUNNING && fds[2].revents != 0)
        dispatcher_read(d);
    if (fds[4].revents != 0)
        dispatcher_answer(d);
    dispatcher_serve_programs(d, fds + 5);
    look_at_worker(d, &d->by_default);
    look_at_worker(d, &d->assessor);
    if (outbox_failed(d->outbox) && d->phase != TERMINATING) {
        err_set(d->err, ERR_MEMORY, "output: out of memory");
        dispatcher_fail(d, TERMINATING);
    }
    if (!logwriter_held(d->commandlog))
        dispatcher_take_outbox(d);
    dispatcher_write(d);
    dispatcher_tend_log(d);
    dispatcher_tend_snapshot(d);
    dispatcher_rotate(d);
}

static void
loop(struct dispatcher *d)
{
    dispatcher_tend_log(d); /* it may be held up from the first */
    if (frame_pending(&d->decoder) > 0)
        dispatcher_take_frames(d); /* read to see the digits */
    while (!finished(d)) {
        step(d);
        if (d->phase != RUNNING && clock_monotonic_ns() >= d->deadline_ns)
            break;
    }
    dispatcher_record_end(d);
}

/* ---- start and end ---- */

static int
open_signals(struct dispatcher *d)
{
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is an error */
    signal(SIGCHLD, SIG_DFL); /* a program's exit status is not thrown away */
    d->signal_fd = stop_signals_open(d->err);
    return d->signal_fd < 0 ? -1 : 0;
}

static int
open_log(struct dispatcher *d)
{
    const struct dispatcher_setup *s = d->setup;
    struct session_setup session = s->session;
    struct buf head;
    int rc;

    session.digits = d->digits;
    buf_init(&head, (size_t)16 << 20);
    session_write_head(d->session, &session, &head);
    rc = buf_check(&head, "head record", d->err);
    d->snapping.head_sum = snapshot_head(head.data, head.len);
    if (rc == 0)
        d->commandlog =
            logwriter_create(s->folder, head.data, head.len, s->log_io, d->err);
    buf_fini(&head);
    return d->commandlog == NULL ? -1 : dispatcher_follow_log(d);
}

static int
start_side(struct dispatcher *d, struct drain *side, const char *name,
           enum sender sender,
           int (*handle)(void *, const struct command *, struct err *))
{
    struct worker_job job = {d, handle};

    side->warn_at = WARN_LENGTH;
    side->letter = sender == SENDER_DEFAULT ? "T" : "A";
    side->queue = queue_new(name, d->err);
    if (side->queue == NULL)
        return -1;
    return worker_start(&side->worker, side->queue, job, &d->gauge, &d->wake,
                        logwriter_slot(d->commandlog, sender), d->err);
}

/* A new session. */
static int
begin(struct dispatcher *d)
{
    struct session_setup setup = d->setup->session;

    setup.digits = d->digits;
    d->session = session_new(&setup, outbox_emitter(d->outbox), d->log, d->err);
    return d->session == NULL || dispatcher_start_programs(d) != 0
               ? -1
               : open_log(d);
}

static int
start(struct dispatcher *d)
{
    const struct dispatcher_setup *s = d->setup;

    /* The channel first: plugins may print as soon as they are loaded, and 0,
     * 1 and 2 must be taken before anything else is opened. */
    if (channel_open(&d->channel, s->in_fd, s->out_fd, d->err) != 0 ||
        open_signals(d) != 0 || wake_open(&d->wake, d->err) != 0)
        return -1;
    d->outbox = outbox_new(&d->wake, d->err);
    if (d->outbox == NULL)
        return -1;
    frame_decoder_init(&d->decoder, s->session.digits, s->session.max_payload);
    dispatcher_settle_digits(d);
    d->channel.digits = d->digits;
    if ((s->resume != NULL ? dispatcher_resume(d) : begin(d)) != 0)
        return -1;
    gauge_init(&d->gauge, s->max_queued, &d->wake);
    if (start_side(d, &d->by_default, "default", SENDER_DEFAULT,
                   handle_default) != 0)
        return -1;
    return start_side(d, &d->assessor, "assessor", SENDER_ASSESSOR,
                      handle_assessor);
}

static void
finish_side(struct drain *side)
{
    if (side->queue != NULL)
        queue_close(side->queue);
    worker_join(&side->worker);
    queue_free(side->queue);
}

static void
finish(struct dispatcher *d)
{
    finish_side(&d->by_default);
    finish_side(&d->assessor);
    dispatcher_free_programs(d);
    dispatcher_end_snapshot(d);
    channel_close(&d->channel);
    frame_decoder_fini(&d->decoder);
    logwriter_free(d->commandlog);
    session_free(d->session);
    outbox_free(d->outbox);
    wake_close(&d->wake);
    if (d->signal_fd >= 0)
        close(d->signal_fd);
}

static void
join_finished(struct worker *w)
{
    if (atomic_load(&w->finished))
        worker_join(w);
}

enum dispatcher_end
dispatcher_run(const struct dispatcher_setup *setup, int *signal_number,
               struct err *err)
{
    struct dispatcher *d = aligned_alloc(CACHE_LINE, sizeof *d);
    enum dispatcher_end end;

    if (d == NULL) {
        err_set(err, ERR_MEMORY, "dispatcher: out of memory");
        return DISPATCHER_FAILED;
    }
    memset(d, 0, sizeof *d);
    d->setup = setup;
    d->log = setup->log;
    snapshot_init(&d->snapping.snapshot);
    d->channel.in = d->channel.out = d->wake.fd = d->signal_fd = -1;
    d->err = err;
    if (start(d) != 0) {
        d->end = DISPATCHER_FAILED;
    } else {
        if (setup->begun != NULL)
            setup->begun(setup->begun_ctx, d->session);
        loop(d);
    }
    *signal_number = d->signal_number;
    end = d->end;
    if (d->left) {
        join_finished(&d->by_default.worker);
        join_finished(&d->assessor.worker);
        return end; /* a worker still runs: nothing can be freed */
    }
    finish(d);
    free(d);
    return end;
}
