/* SPDX-License-Identifier: MIT */
#include "dispatcher/dispatcher.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "core/wake.h"
#include "dispatcher/assessing.h"
#include "dispatcher/channel.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/gauge.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/router.h"
#include "dispatcher/tuning.h"
#include "dispatcher/worker.h"
#include "frame.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
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

#define SYNC_INTERVAL_NS 1000000000 /* power loss costs at most this */
#define WARN_LENGTH 20              /* of a queue; then each doubling */

enum phase { RUNNING, DRAINING, TERMINATING };

struct side {
    struct queue *queue;
    struct worker worker;
    size_t warn_at;
    const char *letter; /* in skipped records */
};

struct dispatcher {
    const struct dispatcher_setup *setup;
    const struct log *log;
    struct session *session;
    struct channel channel;
    struct frame_decoder decoder;
    struct commandlog *commandlog;
    struct wake wake;
    int signal_fd;
    struct outbox *outbox;
    /* The reader writes decoder and arrivals for each frame, the workers the
     * gauge for each command: not on one cache line. */
    _Alignas(64) struct gauge gauge;
    _Alignas(64) struct side by_default, assessor;
    _Alignas(64) uint64_t arrivals;
    enum phase phase;
    enum dispatcher_end end;
    int signal_number;
    int64_t deadline_ns; /* of the stop */
    bool left;          /* a worker was still at work when the grace was over */
    int64_t sync_at_ns; /* 0: nothing to sync */
    atomic_bool closing; /* tells the default worker to drop requests */
    bool closed;         /* the default worker's: it has been told */
    struct err *err;
};

/* ---- what the workers do ---- */

static void
note_skipped(struct dispatcher *d, uint64_t arrival, const char *text)
{
    struct emission e = {SENDER_DEFAULT, arrival, EMISSION_SKIPPED, text,
                         strlen(text)};

    outbox_add(d->outbox, &e);
}

static int
handle_default(void *ctx, const struct command *cmd, struct err *err)
{
    struct dispatcher *d = ctx;

    if (!d->closed && atomic_load(&d->closing)) {
        d->closed = true;
        tuning_close(d->session->tuning);
        note_skipped(d, cmd->arrival, "o what is owed is dropped from here");
    }
    if (tuning_drops(d->session->tuning, cmd))
        note_skipped(d, cmd->arrival, "t a request, dropped by the stop");
    return tuning_handle(d->session->tuning, cmd, err);
}

static int
handle_assessor(void *ctx, const struct command *cmd, struct err *err)
{
    struct dispatcher *d = ctx;

    return assessing_handle(d->session->assessing, cmd, err);
}

/* ---- stopping ---- */

static void
stop(struct dispatcher *d, enum phase phase, enum dispatcher_end end)
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
        d->deadline_ns = clock_monotonic_ns() + d->setup->grace_ms * 1000000;
        queue_close(d->by_default.queue);
        queue_close(d->assessor.queue);
    }
    d->phase = phase;
}

/* d->err is set; tells the peer where the wire has a word for it. */
static void
fail(struct dispatcher *d, enum phase phase)
{
    struct emission e = {SENDER_ROUTER, d->arrivals, CMD_ERROR, d->err->text,
                         strlen(d->err->text)};

    if (d->session->policy.extensions && d->phase == RUNNING)
        outbox_add(d->outbox, &e);
    stop(d, phase, DISPATCHER_FAILED);
    d->end = DISPATCHER_FAILED;
}

/* ---- inbound ---- */

static void
warn_length(struct dispatcher *d, struct side *side, size_t length)
{
    if (length < side->warn_at)
        return;
    side->warn_at = length * 2;
    log_warning(d->log, "%s queue length: %zu", queue_name(side->queue),
                length);
}

static void
push(struct dispatcher *d, struct side *side, struct chain *chain)
{
    size_t length, fresh;

    if (chain->first == NULL)
        return;
    fresh = chain->count;
    queue_push(side->queue, chain, &length);
    warn_length(d, side, length - fresh); /* a burst alone is no lag */
}

static void
drop(struct chain *chain)
{
    struct command *next;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        command_free(cmd);
    }
}

/* Logs and routes every whole frame there is, then lets them take effect:
 * one read, one append, one push to each queue. */
static void
take_frames(struct dispatcher *d)
{
    struct routed routed = {0};
    struct frame frame;
    enum frame_status status;
    enum router_word word = ROUTER_ON;
    struct err broken;

    while (word == ROUTER_ON &&
           (status = frame_next(&d->decoder, &frame, &broken)) == FRAME_READY) {
        commandlog_in(d->commandlog, ++d->arrivals, &frame);
        word = router_frame(d->session->router, &frame, d->arrivals, &routed);
    }
    if (commandlog_flush(d->commandlog, d->err) != 0) {
        drop(&routed.by_default);
        drop(&routed.assessor);
        fail(d, TERMINATING);
        return;
    }
    gauge_add(&d->gauge, routed.bytes);
    push(d, &d->by_default, &routed.by_default);
    push(d, &d->assessor, &routed.assessor);
    if (word == ROUTER_TERMINATE) {
        stop(d, TERMINATING, DISPATCHER_TERMINATED);
    } else if (word == ROUTER_MEMORY) {
        err_set(d->err, ERR_MEMORY, "command %" PRIu64 ": out of memory",
                d->arrivals);
        fail(d, TERMINATING);
    } else if (status == FRAME_BROKEN) {
        *d->err = broken;
        fail(d, DRAINING);
    }
}

static void
read_channel(struct dispatcher *d)
{
    size_t pending;

    switch (channel_read(&d->channel, &d->decoder, d->err)) {
    case CHANNEL_WAIT:
        return;
    case CHANNEL_OK:
        take_frames(d);
        return;
    case CHANNEL_ERROR:
        fail(d, DRAINING);
        return;
    case CHANNEL_EOF:
        break;
    }
    pending = frame_pending(&d->decoder);
    if (pending == 0) {
        stop(d, DRAINING, DISPATCHER_END_OF_FILE);
        return;
    }
    err_set(d->err, ERR_PROTOCOL,
            "offset %" PRIu64 ": the input ends %zu bytes into a frame",
            d->decoder.offset, pending);
    fail(d, DRAINING);
}

/* ---- outbound ---- */

/* Everything in the outbox goes into the log, then out. */
static void
take_outbox(struct dispatcher *d)
{
    struct outgoing *next;

    for (struct outgoing *f = outbox_take_all(d->outbox); f != NULL; f = next) {
        const struct emission *e = &f->emission;

        next = f->next;
        if (e->code == EMISSION_SKIPPED) {
            commandlog_skipped(d->commandlog, e->cause, e->payload, e->len);
        } else {
            commandlog_out(d->commandlog, e);
            router_written(d->session->router, e->code, e->payload, e->len);
            if (d->phase != TERMINATING && !d->channel.out_gone)
                frame_encode(&d->channel.text, d->setup->session.digits,
                             command_info(e->code)->code, e->payload, e->len);
        }
        free(f);
    }
    if (commandlog_flush(d->commandlog, d->err) != 0) {
        channel_drop(&d->channel); /* nothing unlogged is written */
        fail(d, TERMINATING);
    }
}

static void
write_channel(struct dispatcher *d)
{
    struct err err;

    if (channel_write(&d->channel, &err) != CHANNEL_ERROR)
        return;
    if (d->phase == TERMINATING || d->end == DISPATCHER_FAILED) {
        log_warning(d->log, "%s", err.text);
        return;
    }
    *d->err = err; /* behind an end of file, too: answers were lost */
    fail(d, DRAINING);
}

/* ---- the loop ---- */

static void
take_signal(struct dispatcher *d)
{
    struct signalfd_siginfo info;

    if (read(d->signal_fd, &info, sizeof info) != sizeof info)
        return;
    d->signal_number = (int)info.ssi_signo;
    stop(d, TERMINATING, DISPATCHER_SIGNALLED);
}

static void
look_at_worker(struct dispatcher *d, const struct side *side)
{
    if (!atomic_load(&side->worker.failed) || d->end == DISPATCHER_FAILED)
        return;
    *d->err = side->worker.err;
    fail(d, DRAINING);
}

static void
sync_when_due(struct dispatcher *d)
{
    int64_t now;

    if (!commandlog_dirty(d->commandlog)) {
        d->sync_at_ns = 0;
        return;
    }
    now = clock_monotonic_ns();
    if (d->sync_at_ns == 0)
        d->sync_at_ns = now + SYNC_INTERVAL_NS;
    if (now < d->sync_at_ns)
        return;
    if (commandlog_sync(d->commandlog, d->err) != 0)
        fail(d, TERMINATING);
    d->sync_at_ns = 0;
}

static int
timeout_ms(const struct dispatcher *d)
{
    int64_t at = d->sync_at_ns;
    int64_t left;

    if (d->phase != RUNNING && (at == 0 || d->deadline_ns < at))
        at = d->deadline_ns;
    if (at == 0)
        return -1;
    left = at - clock_monotonic_ns();
    return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

static bool
may_read(struct dispatcher *d)
{
    return d->phase == RUNNING &&
           !gauge_holds(&d->gauge,
                        outbox_bytes(d->outbox) + channel_pending(&d->channel));
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
    if (d->phase == RUNNING || !workers_finished(d))
        return false;
    look_at_worker(d, &d->by_default); /* its last command may have failed */
    look_at_worker(d, &d->assessor);
    take_outbox(d);
    write_channel(d);
    return channel_pending(&d->channel) == 0;
}

static void
step(struct dispatcher *d)
{
    struct pollfd fds[4] = {
        {.fd = d->signal_fd, .events = POLLIN},
        {.fd = d->wake.fd, .events = POLLIN},
        {.fd = may_read(d) ? d->channel.in : -1, .events = POLLIN},
        {.fd = channel_pending(&d->channel) > 0 ? d->channel.out : -1,
         .events = POLLOUT},
    };

    if (poll(fds, 4, timeout_ms(d)) < 0)
        return; /* EINTR */
    if (fds[0].revents != 0)
        take_signal(d);
    if (fds[1].revents != 0)
        wake_drain(&d->wake);
    if (d->phase == RUNNING && fds[2].revents != 0)
        read_channel(d);
    look_at_worker(d, &d->by_default);
    look_at_worker(d, &d->assessor);
    if (outbox_failed(d->outbox) && d->phase != TERMINATING) {
        err_set(d->err, ERR_MEMORY, "output: out of memory");
        fail(d, TERMINATING);
    }
    take_outbox(d);
    write_channel(d);
    sync_when_due(d);
}

static void
record_left(struct dispatcher *d, const char *letter, uint64_t arrival)
{
    char text[80];
    int len = snprintf(text, sizeof text, "%s left by the stop", letter);

    commandlog_skipped(d->commandlog, arrival, text, (size_t)len);
}

static void
note_left(struct dispatcher *d, uint64_t busy, size_t waiting)
{
    char text[64] = "";

    d->left = true;
    if (busy != 0)
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
    const struct side *sides[2] = {&d->by_default, &d->assessor};
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
    take_outbox(d);
    for (int i = 0; i < 2; i++) {
        if (busy[i] != 0)
            record_left(d, sides[i]->letter, busy[i]);
        for (struct command *cmd = left[i].first; cmd != NULL; cmd = next) {
            next = cmd->next;
            record_left(d, sides[i]->letter, cmd->arrival);
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

static void
loop(struct dispatcher *d)
{
    while (!finished(d)) {
        step(d);
        if (d->phase != RUNNING && clock_monotonic_ns() >= d->deadline_ns)
            break;
    }
    record_rest(d);
    if (d->end != DISPATCHER_FAILED && d->left) {
        d->end = DISPATCHER_GRACE_OVER;
    } else if (d->end != DISPATCHER_FAILED &&
               channel_pending(&d->channel) > 0) {
        err_set(d->err, ERR_PROTOCOL,
                "output: %zu bytes were not read within the grace of %" PRId64
                " ms",
                channel_pending(&d->channel), d->setup->grace_ms);
        d->end = DISPATCHER_FAILED;
    }
    commandlog_end(d->commandlog, d->arrivals, end_text(d));
    if (commandlog_flush(d->commandlog, d->err) != 0 ||
        commandlog_sync(d->commandlog, d->err) != 0)
        d->end = DISPATCHER_FAILED;
}

/* ---- start and end ---- */

static int
open_signals(struct dispatcher *d)
{
    sigset_t set;

    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is an error */
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return d->signal_fd < 0 ? err_errno(d->err, ERR_SYSTEM, "signalfd") : 0;
}

static int
open_log(struct dispatcher *d)
{
    struct buf head;
    int rc;

    buf_init(&head, (size_t)16 << 20);
    session_write_head(d->session, &d->setup->session, &head);
    rc = buf_check(&head, "head record", d->err);
    if (rc == 0)
        d->commandlog =
            commandlog_create(d->setup->folder, head.data, head.len, d->err);
    buf_fini(&head);
    return d->commandlog == NULL ? -1 : 0;
}

static int
start_side(struct dispatcher *d, struct side *side, const char *name,
           enum sender sender,
           int (*handle)(void *, const struct command *, struct err *))
{
    struct worker_job job = {d, handle};

    side->warn_at = WARN_LENGTH;
    side->letter = sender == SENDER_DEFAULT ? "t" : "a";
    side->queue = queue_new(name, d->err);
    if (side->queue == NULL)
        return -1;
    return worker_start(&side->worker, side->queue, job, &d->gauge, &d->wake,
                        commandlog_slot(d->commandlog, sender), d->err);
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
    d->session =
        session_new(&s->session, outbox_emitter(d->outbox), s->log, d->err);
    if (d->session == NULL || open_log(d) != 0)
        return -1;
    frame_decoder_init(&d->decoder, s->session.digits, s->session.max_payload);
    gauge_init(&d->gauge, s->max_queued, &d->wake);
    if (start_side(d, &d->by_default, "default", SENDER_DEFAULT,
                   handle_default) != 0)
        return -1;
    return start_side(d, &d->assessor, "assessor", SENDER_ASSESSOR,
                      handle_assessor);
}

static void
finish_side(struct side *side)
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
    channel_close(&d->channel);
    frame_decoder_fini(&d->decoder);
    commandlog_free(d->commandlog);
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
    struct dispatcher *d = calloc(1, sizeof *d);
    enum dispatcher_end end;

    if (d == NULL) {
        err_set(err, ERR_MEMORY, "dispatcher: out of memory");
        return DISPATCHER_FAILED;
    }
    d->setup = setup;
    d->log = setup->log;
    d->channel.in = d->channel.out = d->wake.fd = d->signal_fd = -1;
    d->err = err;
    if (start(d) != 0)
        d->end = DISPATCHER_FAILED;
    else
        loop(d);
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
