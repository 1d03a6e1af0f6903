/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * One poll loop.  While RUNNING it reads, unless too much waits in queues and
 * outbox.  A stop closes both queues; the workers then finish what is in
 * them, and the loop goes on logging and writing until both have finished or
 * the grace is over.  After Terminate or a signal requests are dropped and
 * nothing is written to the manager any more, but all is logged.
 *
 * What cannot be logged does not happen, yet.  While the log is held up (no
 * space, an input/output error) nothing more is read, what was read waits, and
 * nothing is written: nobody has seen an effect of what is not in the log.
 * Nothing on this wire can be refused, so nothing is.  A stop meanwhile takes
 * back what waits, as if it had never been read.
 *
 * Start-up is recovery: what the log lacks is logged and written as if it had
 * been said just now.  A manager with extensions hears first how much of what
 * it sent is on record, and again what it may not have read.  A manager of
 * NNI's is a new one, which hears nothing of what the one before it was to be
 * told. */
#include "dispatcher/dispatcher.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/filesystem.h"
#include "core/log.h"
#include "core/stop_signals.h"
#include "core/wake.h"
#include "dispatcher/channel.h"
#include "dispatcher/companion.h"
#include "dispatcher/gauge.h"
#include "dispatcher/outbox.h"
#include "dispatcher/queue.h"
#include "dispatcher/resend.h"
#include "dispatcher/router.h"
#include "dispatcher/side.h"
#include "dispatcher/snapshotting.h"
#include "dispatcher/worker.h"
#include "frame.h"
#include "log/lock.h"
#include "log/log.h"
#include "log/writer.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The queue length at which a lag is told first; then at each doubling. */
#define WARN_LENGTH 20
/* what a stop may take behind its grace: the last of the log, its sync */
#define LAST_SYNC_MS 10000
#define CACHE_LINE 64

enum phase { RUNNING, DRAINING, TERMINATING };

/* A side's queue and the worker that drains it.  Nothing comes into that of a
 * program. */
struct lane {
    struct dispatcher *dispatcher;
    enum sender side;
    size_t warn_at; /* queue length at which the next warning is due */
    struct queue *queue;
    struct worker worker;
};

/* What one read brought, from its decoding until it takes effect. */
struct inbound {
    struct routed routed;
    enum router_result word;
    enum frame_status status;
    struct err broken;
    uint64_t count; /* frames that were read */
    bool waits; /* it is not in the log yet, which cannot be written for now */
};

struct dispatcher {
    const struct dispatcher_setup *setup;
    const struct log *log;
    struct session *session;
    struct channel channel;
    bool log_only; /* outbound frames are logged, but written to nobody */
    struct frame_decoder decoder;
    int digits; /* length field of the frames, once known; see frame.h */
    struct logwriter *commandlog;
    struct wake wake;
    int signal_fd;
    struct outbox *outbox;
    struct snapshotting *snapshotting;
    struct companions *companions;
    /* The reader writes `decoder` and `arrivals` for each frame, the workers
     * `gauge` for each command: they lie on different cache lines. */
    _Alignas(CACHE_LINE) struct gauge gauge;
    _Alignas(CACHE_LINE) struct lane lanes[2]; /* by sender */
    _Alignas(CACHE_LINE) uint64_t arrivals;
    enum phase phase;
    enum dispatcher_end end;
    int signal_number;
    int64_t deadline_ns; /* when the stop has to be complete */
    bool left; /* a worker was still at work when the grace was over */
    struct inbound inbound;
    int64_t log_stuck_ns; /* since when the log cannot be written; 0: it can */
    atomic_bool closing;  /* tells the default worker to drop requests */
    bool closed; /* the default worker's: it has told the tuner's side so */
    struct err *err;
};

/* ---- begin of a stop ---- */

/* Whether the manager has closed its end, be that read so far or not. */
static bool
manager_is_gone(const struct dispatcher *d)
{
    struct pollfd in = {.fd = d->channel.in, .events = POLLRDHUP};

    return (d->phase != RUNNING && d->end == DISPATCHER_END_OF_FILE) ||
           (poll(&in, 1, 0) > 0 &&
            (in.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0);
}

/* Tells the process that waits for the log's lock that it will be free: a stop
 * takes the grace at most, and what a busy disk takes for the last of the log.
 */
static void
promise_log(struct dispatcher *d)
{
    loglock_answer(logwriter_lock(d->commandlog),
                   (uint64_t)d->setup->grace_ms + LAST_SYNC_MS);
}

/* Answers another dispatcher that wants the log: it gets it only when our
 * manager is gone. */
static void
answer_log_request(struct dispatcher *d)
{
    struct loglock *lock = logwriter_lock(d->commandlog);

    if (!loglock_asked(lock))
        return;
    if (manager_is_gone(d)) {
        promise_log(d);
        return;
    }
    /* As far as we can see the manager is still there. */
    loglock_answer(lock, LOCKFILE_STAYS);
    if (d->setup->wanted != NULL)
        wake_signal(d->setup->wanted);
}

static void
drop_routed(struct inbound *in)
{
    chain_clear(&in->routed.by_default);
    chain_clear(&in->routed.assessor);
}

/* Forgets the inputs that were read but are not in the log, as it could not be
 * written: they count as never read. */
static void
take_back_inputs(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;

    companions_take_back(d->companions);
    if (!in->waits)
        return;
    in->waits = false;
    drop_routed(in);
    d->arrivals -= in->count;
    logwriter_take_back(d->commandlog);
}

/* Begins a stop, or makes one that is under way harder. */
static void
begin_stop(struct dispatcher *d, enum phase phase, enum dispatcher_end end)
{
    if (d->phase != RUNNING && phase <= d->phase)
        return;
    if (phase == TERMINATING) {
        atomic_store(&d->closing, true);
        companions_terminate(d->companions);
        channel_drop(&d->channel);
    }
    if (d->end != DISPATCHER_FAILED)
        d->end = end; /* a signal may cut short what an end of file began */
    if (d->phase == RUNNING) {
        take_back_inputs(d);
        d->deadline_ns = clock_monotonic_ns() + d->setup->grace_ms * 1000000;
        for (int i = 0; i < 2; i++)
            queue_close(d->lanes[i].queue);
    }
    d->phase = phase;
    if (manager_is_gone(d))
        promise_log(d);
}

/* Ends the session because of d->err; a manager with extensions is told by an
 * ER. */
static void
fail_session(struct dispatcher *d, enum phase phase)
{
    struct emission e = {.sender = SENDER_ROUTER,
                         .cause = d->arrivals,
                         .code = CMD_ERROR,
                         .payload = d->err->text,
                         .len = strlen(d->err->text)};

    if (d->session->policy.extensions && d->phase == RUNNING)
        outbox_add(d->outbox, &e);
    begin_stop(d, phase, DISPATCHER_FAILED);
    d->end = DISPATCHER_FAILED;
}

/* Ends the session because a side has failed.  Of several failures the first is
 * told. */
static void
fail_side(void *ctx, const struct err *err)
{
    struct dispatcher *d = ctx;

    if (d->end == DISPATCHER_FAILED)
        return;
    *d->err = *err;
    fail_session(d, DRAINING);
}

/* ---- the log ---- */

/* Ends the session because nothing can be appended to the log: d->err tells. */
static void
fail_log(struct dispatcher *d)
{
    channel_drop(&d->channel); /* nothing unlogged is written */
    fail_session(d, TERMINATING);
}

/* Writes what was collected for the log.  False: the log cannot be written for
 * now, and what was collected waits; or never will be, and the session has
 * failed. */
static bool
flush_log(void *ctx)
{
    struct dispatcher *d = ctx;

    switch (logwriter_flush(d->commandlog, d->err)) {
    case LOGWRITER_OK:
        return true;
    case LOGWRITER_HELD:
        return false;
    case LOGWRITER_FAILED:
        break;
    }
    fail_log(d);
    return false;
}

/* Tells people when the log cannot be written, and when that is over. */
static void
tell_log_trouble(struct dispatcher *d)
{
    char text[160];
    const char *trouble = logwriter_trouble(d->commandlog, text, sizeof text);
    int64_t now;

    if ((trouble != NULL) == (d->log_stuck_ns != 0))
        return;
    now = clock_monotonic_ns();
    if (trouble != NULL) {
        log_warning(d->log,
                    LOG_NAME ": %s; " LOG_WAITS " (tried every %" PRId64 " ms)",
                    trouble, d->setup->log_retry_ms);
        d->log_stuck_ns = now;
    } else {
        log_warning(d->log, LOG_NAME ": goes on after %" PRId64 " ms",
                    (now - d->log_stuck_ns) / 1000000);
        d->log_stuck_ns = 0;
    }
}

/* Begins a new segment of the log, and a snapshot, when one is due and all that
 * is on record has been taken in.  While a snapshot is under way, a segment may
 * get up to twice as long before the next one begins without a snapshot. */
static void
rotate_log(struct dispatcher *d)
{
    struct err err;

    if (d->phase != RUNNING || d->inbound.waits ||
        !logwriter_rotation_due(d->commandlog) ||
        (snapshotting_is_busy(d->snapshotting) &&
         !logwriter_is_overlong(d->commandlog)))
        return;
    switch (logwriter_rotate(d->commandlog, d->arrivals,
                             router_frames(d->session->router), &err)) {
    case LOGWRITER_OK:
        log_debug(d->log, LOG_NAME ": segment %" PRIu64 " begins",
                  logwriter_segment(d->commandlog));
        snapshotting_begin(d->snapshotting, d->arrivals);
        return;
    case LOGWRITER_HELD:
        log_warning(d->log, "%s; %s", err.text,
                    logwriter_has_segments(d->commandlog)
                        ? "tried again when the log has grown"
                        : "it stays one file");
        return;
    case LOGWRITER_FAILED:
        break;
    }
    *d->err = err;
    fail_log(d);
}

/* ---- inbound ---- */

/* Records a command that the stop leaves unhandled: a session that goes on
 * handles it first.  A request that is void is dropped for good. */
static void
record_left(struct dispatcher *d, enum sender side, uint64_t arrival,
            bool is_void)
{
    const char *letter = side == SENDER_DEFAULT ? "T" : "A";
    char text[80];
    int len = snprintf(text, sizeof text, "%s left by the stop",
                       is_void ? "t" : letter);

    logwriter_add(d->commandlog, RECORD_SKIPPED, arrival, text, (size_t)len);
}

/* Records a side's commands that nobody will handle, and frees them. */
static void
record_left_chain(struct dispatcher *d, enum sender side, struct chain *left)
{
    struct command *cmd;

    while ((cmd = chain_take(left)) != NULL) {
        if (!snapshotting_is_marker(cmd->arrival))
            record_left(d, side, cmd->arrival,
                        d->phase == TERMINATING &&
                            cmd->code == CMD_REQUEST_TRIALS);
        command_free(cmd);
    }
}

static void
warn_length(struct dispatcher *d, struct lane *lane, size_t length)
{
    if (length < lane->warn_at)
        return;
    lane->warn_at = length * 2;
    log_warning(d->log, "%s queue length: %zu", queue_name(lane->queue),
                length);
}

static void
push_chain(struct dispatcher *d, enum sender side, struct chain *chain)
{
    struct lane *lane = &d->lanes[side];
    size_t length, fresh = chain->count;

    if (chain->first == NULL || companions_tell(d->companions, side, chain))
        return;
    if (d->phase !=
        RUNNING) { /* the chain pushed before this one has ended the session */
        record_left_chain(d, side, chain);
        return;
    }
    queue_push(lane->queue, chain, &length);
    warn_length(d, lane, length - fresh); /* one read alone is no lag */
}

/* Gives what was read, now that it stands in the log, to the queues. */
static void
take_inbound(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;

    in->waits = false;
    gauge_add(&d->gauge, in->routed.bytes);
    push_chain(d, SENDER_DEFAULT, &in->routed.by_default);
    push_chain(d, SENDER_ASSESSOR, &in->routed.assessor);
    in->routed = (struct routed){0};
    if (in->word == ROUTER_TERMINATE) {
        begin_stop(d, TERMINATING, DISPATCHER_TERMINATED);
    } else if (in->word == ROUTER_MEMORY) {
        err_set(d->err, ERR_MEMORY, "command %" PRIu64 ": out of memory",
                d->arrivals);
        fail_session(d, TERMINATING);
    } else if (in->status == FRAME_BROKEN) {
        *d->err = in->broken;
        fail_session(d, DRAINING);
    }
}

/* Logs and routes every whole frame there is, then lets them take effect:
 * one read, one append, one push to each queue. */
static void
take_frames(struct dispatcher *d)
{
    struct inbound *in = &d->inbound;
    struct frame frame;

    in->word = ROUTER_ON;
    in->count = 0;
    while (in->word == ROUTER_ON &&
           (in->status = frame_next(&d->decoder, &frame, &in->broken)) ==
               FRAME_READY) {
        logwriter_frame(d->commandlog, RECORD_IN, ++d->arrivals, &frame);
        in->count++;
        in->word =
            router_frame(d->session->router, &frame, d->arrivals, &in->routed);
    }
    if (flush_log(d)) {
        take_inbound(d);
        return;
    }
    in->waits = logwriter_held(d->commandlog);
    if (!in->waits) /* the log has failed: this will never be recorded */
        drop_routed(in);
}

static void
read_frames(struct dispatcher *d)
{
    switch (channel_read(&d->channel, &d->decoder, d->err)) {
    case CHANNEL_WAIT:
        return;
    case CHANNEL_OK:
        take_frames(d);
        return;
    case CHANNEL_ERROR:
        fail_session(d, DRAINING);
        return;
    case CHANNEL_EOF:
        break;
    }
    if (frame_pending(&d->decoder) == 0) {
        begin_stop(d, DRAINING, DISPATCHER_END_OF_FILE);
        return;
    }
    frame_refuse_end(&d->decoder, d->err);
    fail_session(d, DRAINING);
}

/* ---- outbound ---- */

/* Bytes of output that the manager has not read yet. */
static size_t
unread_bytes(const void *ctx)
{
    const struct dispatcher *d = ctx;

    return outbox_bytes(d->outbox) + channel_pending(&d->channel);
}

static void
take_emission(struct dispatcher *d, const struct emission *e)
{
    switch (e->kind) {
    case EMISSION_PART:
        snapshotting_take_part(d->snapshotting, e);
        return;
    case EMISSION_SKIPPED:
        logwriter_add(d->commandlog, RECORD_SKIPPED, e->cause, e->payload,
                      e->len);
        return;
    case EMISSION_FRAME:
        break;
    }
    emission_record(e, d->commandlog);
    router_written(d->session->router, e);
    if (d->phase != TERMINATING && !d->channel.out_gone && !d->log_only)
        frame_encode(&d->channel.text, d->digits, command_info(e->code)->code,
                     e->payload, e->len);
}

/* Moves the outbox into the log and then into the channel. */
static void
take_outbox(struct dispatcher *d)
{
    struct emission *next;

    for (struct emission *e = outbox_take_all(d->outbox); e != NULL; e = next) {
        next = e->next;
        take_emission(d, e);
        emission_free(e);
    }
    flush_log(d);
}

/* Writes to the manager what can be written without blocking. */
static void
write_frames(struct dispatcher *d)
{
    struct err err;

    if (logwriter_held(d->commandlog))
        return; /* frames may wait here that are not in the log yet */
    if (channel_write(&d->channel, &err) != CHANNEL_ERROR)
        return;
    if (d->phase == TERMINATING || d->end == DISPATCHER_FAILED) {
        log_warning(d->log, "%s", err.text);
        return;
    }
    *d->err = err; /* behind an end of file, too: answers were lost */
    fail_session(d, DRAINING);
}

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

/* On the default worker: once the session is terminated, makes the tuner's side
 * drop requests, and records that. */
static void
close_tuner(struct dispatcher *d, const struct command *cmd)
{
    struct side *tuner = d->session->sides[SENDER_DEFAULT];

    if (!d->closed && atomic_load(&d->closing)) {
        d->closed = true;
        side_close(tuner);
        note_skipped(d, cmd->arrival, "o what is owed is dropped from here");
    }
    if (side_drops(tuner, cmd))
        note_skipped(d, cmd->arrival, "t a request, dropped by the stop");
}

static int
handle_command(void *ctx, const struct command *cmd, struct err *err)
{
    struct lane *lane = ctx;
    struct dispatcher *d = lane->dispatcher;

    if (snapshotting_is_marker(cmd->arrival)) {
        snapshotting_save(d->snapshotting, lane->side);
        return 0;
    }
    if (lane->side == SENDER_DEFAULT)
        close_tuner(d, cmd);
    return side_command(d->session->sides[lane->side], cmd, err);
}

/* ---- the loop ---- */

static void
take_signal(struct dispatcher *d)
{
    struct signalfd_siginfo info;

    if (read(d->signal_fd, &info, sizeof info) != sizeof info)
        return;
    d->signal_number = (int)info.ssi_signo;
    begin_stop(d, TERMINATING, DISPATCHER_SIGNALLED);
}

static void
look_at_workers(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++)
        if (atomic_load(&d->lanes[i].worker.failed))
            fail_side(d, &d->lanes[i].worker.err);
}

/* Syncs the log, or tries again to write it, and hands on the inputs that
 * waited for it.  Behind one of them the next may have to wait again: whether
 * the log can be written, and more may be read, is looked at last. */
static void
tend_commandlog(struct dispatcher *d)
{
    if (logwriter_tend(d->commandlog, d->err) != 0)
        fail_log(d);
    if (!logwriter_held(d->commandlog)) {
        if (d->inbound.waits)
            take_inbound(d);
        companions_go_on(d->companions);
    }
    tell_log_trouble(d);
}

static int
timeout_ms(const struct dispatcher *d)
{
    int64_t at = logwriter_next_ns(d->commandlog);
    int64_t program = companions_next_ns(d->companions);
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
    return d->phase == RUNNING && d->log_stuck_ns == 0 &&
           !gauge_holds(&d->gauge,
                        unread_bytes(d) + companions_bytes(d->companions));
}

static bool
workers_finished(const struct dispatcher *d)
{
    return atomic_load(&d->lanes[SENDER_DEFAULT].worker.finished) &&
           atomic_load(&d->lanes[SENDER_ASSESSOR].worker.finished);
}

/* Whether a stop is complete: all inputs are handled, logged and answered. */
static bool
stop_is_complete(struct dispatcher *d)
{
    bool ended;

    if (d->phase == RUNNING)
        return false;
    /* First, whatever the workers are at. */
    ended = companions_end(d->companions);
    if (!ended || !workers_finished(d))
        return false;
    look_at_workers(d); /* the last command may have failed */
    if (logwriter_held(d->commandlog))
        return false;
    take_outbox(d);
    write_frames(d);
    return channel_pending(&d->channel) == 0 && !logwriter_held(d->commandlog);
}

static void
poll_once(struct dispatcher *d)
{
    enum { SIGNAL, WAKE, IN, OUT, ASKED, N };
    bool writes =
        channel_pending(&d->channel) > 0 && !logwriter_held(d->commandlog);
    struct pollfd fds[N + COMPANIONS_FDS] = {
        [SIGNAL] = {.fd = d->signal_fd, .events = POLLIN},
        [WAKE] = {.fd = d->wake.fd, .events = POLLIN},
        [IN] = {.fd = may_read(d) ? d->channel.in : -1, .events = POLLIN},
        [OUT] = {.fd = writes ? d->channel.out : -1, .events = POLLOUT},
        [ASKED] = {.fd = logwriter_lock(d->commandlog)->asked_fd,
                   .events = POLLIN},
    };
    size_t n = N + companions_poll(d->companions, fds + N);

    if (poll(fds, n, timeout_ms(d)) < 0)
        return; /* EINTR */
    if (fds[SIGNAL].revents != 0)
        take_signal(d);
    if (fds[WAKE].revents != 0)
        wake_drain(&d->wake);
    if (d->phase == RUNNING && fds[IN].revents != 0)
        read_frames(d);
    if (fds[ASKED].revents != 0)
        answer_log_request(d);
    companions_serve(d->companions, fds + N);
    look_at_workers(d);
    if (outbox_failed(d->outbox) && d->phase != TERMINATING) {
        err_set(d->err, ERR_MEMORY, "output: out of memory");
        fail_session(d, TERMINATING);
    }
    if (!logwriter_held(d->commandlog))
        take_outbox(d);
    write_frames(d);
    tend_commandlog(d);
    snapshotting_tend(d->snapshotting, d->phase != RUNNING);
    rotate_log(d);
}

/* ---- the end, on record ---- */

static void
tell_left(struct dispatcher *d, uint64_t busy, size_t waiting)
{
    char text[64] = "";

    d->left = true;
    if (snapshotting_is_marker(busy))
        snprintf(text, sizeof text, " while a snapshot was being taken");
    else if (busy != 0)
        snprintf(text, sizeof text,
                 " while command %" PRIu64 " was being handled", busy);
    log_error(d->log,
              "stopped after the grace of %" PRId64 " ms%s, %zu more waited",
              d->setup->grace_ms, text, waiting);
}

/* When the grace is over, or a worker gave up: records as left the command that
 * the worker was in and those that wait for it.  A worker may go on meanwhile:
 * first its queue is taken away, then the outbox emptied, so that the frames of
 * each command that is not called left are all in the log. */
static void
record_unhandled(struct dispatcher *d)
{
    struct chain left[2];
    uint64_t busy[2];

    for (int i = 0; i < 2; i++) {
        left[i] = queue_abandon(d->lanes[i].queue, &busy[i]);
        if (atomic_load(&d->lanes[i].worker.failed))
            busy[i] = 0; /* it failed: it was handled as far as it can be */
        else if (busy[i] != 0 || left[i].count > 0)
            tell_left(d, busy[i], left[i].count);
    }
    take_outbox(d);
    for (int i = 0; i < 2; i++) {
        enum sender side = (enum sender)i;

        if (busy[i] != 0 && !snapshotting_is_marker(busy[i]))
            record_left(d, side, busy[i], false);
        record_left_chain(d, side, &left[i]);
    }
}

/* At the end of the loop: records what was left unhandled and how the session
 * ended; the whole log is on stable storage when it returns. */
static void
record_end(struct dispatcher *d)
{
    static const char *const ends[] = {
        [DISPATCHER_END_OF_FILE] = "end of file",
        [DISPATCHER_TERMINATED] = "terminated",
        [DISPATCHER_SIGNALLED] = "signalled",
        [DISPATCHER_GRACE_OVER] = "grace over",
    };
    bool at_work = companions_kill(d->companions), failed;

    record_unhandled(d);
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
    failed = d->end == DISPATCHER_FAILED;
    logwriter_text(d->commandlog, RECORD_END, d->arrivals,
                   failed ? d->err->text : ends[d->end]);
    if (logwriter_finish(d->commandlog, failed ? NULL : d->err) != 0)
        d->end = DISPATCHER_FAILED;
    else if (d->log_stuck_ns != 0)
        tell_log_trouble(d);
}

static void
serve(struct dispatcher *d)
{
    if (frame_pending(&d->decoder) > 0)
        take_frames(d); /* what settle_digits() has read */
    tend_commandlog(d); /* the log may not be writable from the first */
    while (!stop_is_complete(d)) {
        poll_once(d);
        if (d->phase != RUNNING && clock_monotonic_ns() >= d->deadline_ns)
            break;
    }
    record_end(d);
}

/* ---- the frames' digits ---- */

/* The length field of a stream that ends within its first header: six digits
 * and nothing behind them are a whole frame, and eight more are missing from
 * the other kind. */
static int
digits_at_end(const struct frame_decoder *d)
{
    return frame_pending(d) == 2 + FRAME_DIGITS_OLD ? FRAME_DIGITS_OLD
                                                    : FRAME_DIGITS;
}

/* Waits for more of the first header; a signal is left to the loop.  False:
 * there is no more.  No byte behind the header is read: where the session
 * cannot begin, what is left unread tells NNI's manager so (NNI.md,
 * "Starting"). */
static bool
read_more(struct dispatcher *d)
{
    size_t most = FRAME_HEADER_MAX - frame_pending(&d->decoder);
    struct pollfd fds[] = {{.fd = d->channel.in, .events = POLLIN},
                           {.fd = d->signal_fd, .events = POLLIN}};
    struct err err;

    for (;;) {
        if (poll(fds, 2, -1) < 0)
            continue; /* EINTR */
        if (fds[1].revents != 0)
            return false;
        switch (channel_read_some(&d->channel, &d->decoder, most, &err)) {
        case CHANNEL_OK:
            return true;
        case CHANNEL_WAIT:
            break;
        case CHANNEL_EOF:
        case CHANNEL_ERROR:
            return false;
        }
    }
}

/* Finds out how long the frames' length field is, where the setup leaves that
 * to be detected, by waiting for the first header.  A stream that ends, fails
 * or makes no sense before is left for the loop to judge, and counts as
 * FRAME_DIGITS. */
static void
settle_digits(struct dispatcher *d)
{
    enum frame_status status;
    struct err err;

    do {
        status = frame_detect(&d->decoder, &err);
    } while (status == FRAME_PARTIAL && read_more(d));
    if (status != FRAME_READY)
        d->decoder.digits = digits_at_end(&d->decoder);
    d->digits = d->channel.digits = d->decoder.digits;
}

/* ---- start ---- */

static int
start_companions(struct dispatcher *d)
{
    const struct dispatcher_setup *s = d->setup;
    const struct companion_host host = {
        .arrivals = &d->arrivals,
        .gauge = &d->gauge,
        .max_queued = s->max_queued,
        .max_payload = s->session.max_payload,
        .grace_ms = s->grace_ms,
        .folder = d->session->program_folder,
        .direction = policy_program_direction(&d->session->policy),
        .objectives = d->session->objectives_text,
        .judged = d->session->policy.assessor_objective,
        .log = d->log,
        .flush = flush_log,
        .unread = unread_bytes,
        .fail = fail_side,
        .ctx = d,
    };

    d->companions =
        companions_new(&host, d->session->sides, s->resume == NULL, d->err);
    return d->companions == NULL ? -1 : 0;
}

/* Says what the file system of the log lacks. */
static void
tell_lacks(const struct dispatcher *d)
{
    const char *lacks = loglock_lacks(logwriter_lock(d->commandlog));
    const char *folder = logwriter_folder(d->commandlog);
    char name[FILESYSTEM_NAME_MAX];

    if (lacks == NULL)
        return;
    filesystem_name(folder, name);
    log_warning(d->log,
                "%s: its file system (%s) has %s; commandLogDirectory puts the "
                "log on a local disk",
                folder, name, lacks);
}

/* Sets the log to sync and to be cut into segments as the setup says, and
 * prepares snapshots. */
static int
follow_log(struct dispatcher *d, uint32_t head_sum)
{
    const struct dispatcher_setup *s = d->setup;
    struct snapshotting_setup setup = {
        .session = d->session,
        .commandlog = d->commandlog,
        .outbox = d->outbox,
        .head_sum = head_sum,
        .writer = {logwriter_folder(d->commandlog), s->log_io, s->segments.old,
                   &d->wake},
        .log = d->log,
    };

    tell_lacks(d);
    for (int i = 0; i < 2; i++) {
        setup.queues[i] = d->lanes[i].queue;
        setup.unsavable[i] = side_proxy(d->session->sides[i]) != NULL ||
                             (s->resume != NULL && s->resume->unsavable[i]);
    }
    d->snapshotting = snapshotting_new(&setup, d->err);
    if (d->snapshotting == NULL)
        return -1;
    companions_log_to(d->companions, d->commandlog);
    logwriter_set_segments(d->commandlog, s->segments.size);
    return logwriter_follow(d->commandlog, s->sync, &d->wake, s->log_retry_ms,
                            d->err);
}

/* Makes a new session and its log. */
static int
begin_session(struct dispatcher *d)
{
    const struct dispatcher_setup *s = d->setup;
    struct session_setup setup = s->session;
    struct buf head;
    uint32_t sum;

    setup.digits = d->digits;
    d->session = session_new(&setup, outbox_emitter(d->outbox), d->log, d->err);
    if (d->session == NULL || start_companions(d) != 0)
        return -1;
    buf_init(&head, (size_t)16 << 20);
    session_write_head(d->session, &setup, &head);
    sum = snapshot_head(head.data, head.len);
    if (buf_check(&head, "head record", d->err) == 0)
        d->commandlog =
            logwriter_create(s->folder, head.data, head.len, s->log_io, d->err);
    buf_fini(&head);
    return d->commandlog == NULL ? -1 : follow_log(d, sum);
}

static int
send_resume_state(struct dispatcher *d, const struct dispatcher_resume *r)
{
    struct emission e = {
        .sender = SENDER_ROUTER, .cause = r->arrivals, .code = CMD_INITIALIZED};
    const struct resumed told = {.frames = r->frames,
                                 .owed = r->owed,
                                 .trials = r->trials,
                                 .derived = r->n_missing,
                                 .spaceless = r->spaceless};
    struct buf payload;
    int rc;

    buf_init(&payload, 256);
    command_write_resumed(&payload, &told);
    e.payload = payload.data;
    e.len = payload.len;
    if (!payload.failed)
        outbox_add(d->outbox, &e);
    take_outbox(d);
    for (const struct emission *again =
             router_unread(d->session->router)->first;
         again != NULL; again = again->next)
        frame_encode(&d->channel.text, d->digits,
                     command_info(again->code)->code, again->payload,
                     again->len);
    rc = buf_check(&payload, "recovery", d->err);
    buf_fini(&payload);
    return rc;
}

/* Takes over the session and the log that setup->resume holds, and tells the
 * manager what it may lack. */
static int
resume_session(struct dispatcher *d, const struct dispatcher_resume *r)
{
    d->session = r->session;
    d->commandlog = r->log;
    d->arrivals = r->arrivals;
    session_redirect(d->session, outbox_emitter(d->outbox));
    if (start_companions(d) != 0 || follow_log(d, r->head_sum) != 0)
        return -1;
    for (size_t i = 0; i < r->n_left; i++)
        record_left(d, r->left[i].side, r->left[i].arrival, false);
    logwriter_text(d->commandlog, RECORD_RESUMED, r->arrivals, r->words);
    for (size_t i = 0; i < r->n_skips; i++)
        logwriter_add(d->commandlog, RECORD_SKIPPED, r->skips[i].arrival,
                      r->skips[i].text, strlen(r->skips[i].text));
    if (logwriter_flush(d->commandlog, d->err) == LOGWRITER_FAILED)
        return -1;
    if (d->session->policy.extensions && send_resume_state(d, r) != 0)
        return -1;
    d->log_only = d->session->policy.nni;
    for (size_t i = 0; i < r->n_missing; i++)
        outbox_add(d->outbox, r->missing[i]);
    take_outbox(d);
    companions_leave(d->companions);
    take_outbox(d);
    d->log_only = false;
    return 0;
}

static int
open_signals(struct dispatcher *d)
{
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is an error */
    signal(SIGCHLD, SIG_DFL); /* a program's exit status is not thrown away */
    d->signal_fd = stop_signals_open(d->err);
    return d->signal_fd < 0 ? -1 : 0;
}

static int
open_lanes(struct dispatcher *d)
{
    static const char *const names[] = {"default", "assessor"};

    for (int i = 0; i < 2; i++) {
        d->lanes[i].dispatcher = d;
        d->lanes[i].side = (enum sender)i;
        d->lanes[i].warn_at = WARN_LENGTH;
        d->lanes[i].queue = queue_new(names[i], d->err);
        if (d->lanes[i].queue == NULL)
            return -1;
    }
    return 0;
}

static int
start_workers(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++) {
        struct lane *lane = &d->lanes[i];
        struct worker_job job = {lane, handle_command};

        if (worker_start(&lane->worker, lane->queue, job, &d->gauge, &d->wake,
                         logwriter_slot(d->commandlog, i), d->err) != 0)
            return -1;
    }
    return 0;
}

static int
start_dispatcher(struct dispatcher *d)
{
    const struct dispatcher_setup *s = d->setup;

    /* The channel first: plugins may print as soon as they are loaded, and 0,
     * 1 and 2 must be taken before anything else is opened. */
    if (channel_open(&d->channel, s->in_fd, s->out_fd, d->err) != 0 ||
        open_signals(d) != 0 || wake_open(&d->wake, d->err) != 0)
        return -1;
    d->outbox = outbox_new(&d->wake, d->err);
    if (d->outbox == NULL || open_lanes(d) != 0)
        return -1;
    gauge_init(&d->gauge, s->max_queued, &d->wake);
    frame_decoder_init(&d->decoder, s->session.digits, s->session.max_payload);
    settle_digits(d);
    if ((s->resume != NULL ? resume_session(d, s->resume) : begin_session(d)) !=
        0)
        return -1;
    return start_workers(d);
}

/* ---- end ---- */

static void
free_dispatcher(struct dispatcher *d)
{
    for (int i = 0; i < 2 && d->lanes[i].queue != NULL; i++) {
        queue_close(d->lanes[i].queue);
        worker_join(&d->lanes[i].worker);
        queue_free(d->lanes[i].queue);
    }
    companions_free(d->companions);
    snapshotting_free(d->snapshotting);
    channel_close(&d->channel);
    frame_decoder_fini(&d->decoder);
    logwriter_free(d->commandlog);
    session_free(d->session);
    outbox_free(d->outbox);
    wake_close(&d->wake);
    if (d->signal_fd >= 0)
        close(d->signal_fd);
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
    d->channel.in = d->channel.out = d->wake.fd = d->signal_fd = -1;
    d->err = err;
    if (start_dispatcher(d) != 0) {
        d->end = DISPATCHER_FAILED;
    } else {
        if (setup->begun != NULL)
            setup->begun(setup->begun_ctx, d->session);
        serve(d);
    }
    *signal_number = d->signal_number;
    end = d->end;
    if (d->left) { /* a worker still runs: nothing can be freed */
        for (int i = 0; i < 2; i++)
            if (atomic_load(&d->lanes[i].worker.finished))
                worker_join(&d->lanes[i].worker);
        return end;
    }
    free_dispatcher(d);
    free(d);
    return end;
}
