/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 *   program     the process and its two pipes (program.h)
 *   proxy       stands for the program on its side: keeps its state (proxy.h)
 *   port        how the proxy reaches the program; none in replay
 *   companion   both together, with the deadlines on them
 *
 * The proxy waits for nobody, so what a program sends is handled frame by frame
 * on the main thread.  A program's end counts only when its last byte has been
 * read and its exit status is known.
 *
 * While the command log cannot be written, the input that waits for it stays in
 * the companion, which reads nothing more until it has taken effect. */
#include "dispatcher/companion.h"

#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/gauge.h"
#include "dispatcher/program.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/queue.h"
#include "dispatcher/side.h"
#include "log/writer.h"
#include "quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000          /* nanoseconds */
#define EXIT_NS (1000 * MS) /* for a program that has closed its output */
#define N_FDS (COMPANIONS_FDS / 2)

enum input { NO_INPUT, INPUT_FRAME, INPUT_EVENT };

struct companion {
    const struct companion_host *host;
    struct logwriter *commandlog;
    enum sender sender;
    struct side *side;
    struct proxy *proxy; /* of the side that the program is */
    struct program program;
    int64_t late_at_ns;  /* when the program's silence is too long; 0: never */
    int64_t stuck_at_ns; /* when it is killed for reading nothing; 0: never */
    uint64_t written;    /* bytes written to it, when stuck_at_ns was set */
    int64_t kill_at_ns;  /* when it is killed for not ending; 0: never */
    char why[320];       /* why it is killed, or did not start; "": neither */
    bool killed;         /* we have killed it, for that */
    bool heard; /* it has sent something since its deadlines were looked at */
    bool failed_start;
    bool terminated;    /* what the program sends is ignored from here on */
    enum input held;    /* kind of the input that waits for the log */
    uint64_t arrival;   /* that input's number */
    struct frame frame; /* that input, lies in the decoder */
    enum side_event event;
    char how[400];
};

struct companions {
    struct companion_host host;
    struct companion list[2];
    size_t n;
};

static bool
log_is_held(const struct companion *c)
{
    return logwriter_held(c->commandlog);
}

/* Whether so much waits for the manager that nothing is read from programs: a
 * flood of what they send is held like the manager's. */
static bool
manager_lags(const struct companion *c)
{
    return c->host->unread(c->host->ctx) > c->host->max_queued;
}

/* ---- inputs ---- */

/* Ends the session where the proxy could not handle an input: rc is -1. */
static void
check_proxy(struct companion *c, int rc, const struct err *err)
{
    if (rc != 0)
        c->host->fail(c->host->ctx, err);
}

static void take_failed_start(struct companion *c);

/* Handles the input that is in the log now. */
static void
handle_input(struct companion *c)
{
    enum input input = c->held;
    struct err err;

    c->held = NO_INPUT;
    if (input == INPUT_FRAME) {
        check_proxy(c, side_frame(c->side, c->arrival, &c->frame, &err), &err);
        return;
    }
    check_proxy(c, side_event(c->side, c->arrival, c->event, c->how, &err),
                &err);
    take_failed_start(c);
}

/* Handles the input that was just recorded, or holds it until the log can be
 * written. */
static void
log_and_handle(struct companion *c, enum input input)
{
    c->held = input;
    if (c->host->flush(c->host->ctx))
        handle_input(c);
    else if (!log_is_held(c))
        c->held = NO_INPUT;
}

/* Makes an input of what befell the program. */
static void
take_event(struct companion *c, enum side_event event, const char *how)
{
    char text[sizeof c->how + 8];

    if (c->terminated)
        return;
    c->event = event;
    snprintf(c->how, sizeof c->how, "%s", how);
    snprintf(text, sizeof text, "%s %s", side_event_name(event), c->how);
    c->arrival = ++*c->host->arrivals;
    logwriter_text(c->commandlog,
                   c->sender == SENDER_DEFAULT ? RECORD_TUNER_EVENT
                                               : RECORD_ASSESSOR_EVENT,
                   c->arrival, text);
    log_and_handle(c, INPUT_EVENT);
}

static void
take_frame(struct companion *c)
{
    c->heard = true;
    if (c->terminated)
        return;
    c->arrival = ++*c->host->arrivals;
    logwriter_frame(c->commandlog,
                    c->sender == SENDER_DEFAULT ? RECORD_TUNER_FRAME
                                                : RECORD_ASSESSOR_FRAME,
                    c->arrival, &c->frame);
    log_and_handle(c, INPUT_FRAME);
}

/* Kills the program because of what stands in c->why. */
static void
kill_program(struct companion *c)
{
    c->program.out_closed = c->killed = true;
    program_kill(&c->program);
}

/* Says which bytes of the program are no frame.  The usual reason is a print(),
 * of which err shows one byte. */
static void
blame_bytes(struct companion *c, const struct err *err)
{
    const struct frame_decoder *d = &c->program.decoder;
    char begin[QUOTE_MAX];

    snprintf(c->why, sizeof c->why,
             "%.150s, in %s (expected only frames on its standard output)",
             err->text,
             quote_bytes(begin, d->in.data + d->at, frame_pending(d)));
}

/* Takes in the whole frames that the program has sent, one by one; stops behind
 * one that cannot be handled before the log is written (c->held). */
static void
take_frames(struct companion *c)
{
    struct program *p = &c->program;
    enum frame_status status = FRAME_READY;
    struct err err;

    while (c->held == NO_INPUT &&
           (status = frame_next(&p->decoder, &c->frame, &err)) == FRAME_READY)
        take_frame(c);
    if (c->held != NO_INPUT)
        return;
    if (status == FRAME_BROKEN) {
        blame_bytes(c, &err);
        kill_program(c);
    } else if (p->out_closed) {
        if (frame_pending(&p->decoder) > 0)
            snprintf(c->why, sizeof c->why,
                     "its output ends inside of a frame");
        c->kill_at_ns = clock_monotonic_ns() + EXIT_NS;
    }
}

static void
read_frames(struct companion *c)
{
    program_read(&c->program);
    take_frames(c);
}

static void
take_exit(struct companion *c)
{
    char how[64], text[sizeof c->why + sizeof how + 8];
    bool expected = c->program.leaving;

    program_reap(&c->program, how, sizeof how);
    c->late_at_ns = c->kill_at_ns = c->stuck_at_ns = 0;
    snprintf(text, sizeof text, "%s%s%s", c->why, c->why[0] != '\0' ? "; " : "",
             c->killed ? "killed" : how);
    c->why[0] = '\0';
    c->killed = false;
    if (!expected)
        take_event(c, SIDE_GONE, text);
}

/* ---- the proxy's port ---- */

static void
send_frame(void *ctx, enum command_code code, const char *payload, size_t len)
{
    struct companion *c = ctx;

    program_send(&c->program, code, payload, len);
}

static int
start_program(struct companion *c, struct err *err)
{
    const struct proxy_setup *setup = proxy_setup(c->proxy);

    const struct program_told told = {.seed = setup->seed,
                                      .direction = c->host->direction,
                                      .objectives = c->host->objectives,
                                      .judged = c->host->judged};

    c->heard = true;
    return program_start(&c->program, setup->argv, c->host->folder, &told,
                         c->host->max_payload, err);
}

/* Starts the program anew.  That it did not start becomes an input behind those
 * that are logged already. */
static void
start_again(void *ctx)
{
    struct companion *c = ctx;
    struct err err;

    c->failed_start = start_program(c, &err) != 0;
    if (c->failed_start)
        snprintf(c->why, sizeof c->why, "%.300s", err.text);
}

static void
take_failed_start(struct companion *c)
{
    char why[sizeof c->why];

    if (!c->failed_start)
        return;
    c->failed_start = false;
    memcpy(why, c->why, sizeof why);
    c->why[0] = '\0';
    take_event(c, SIDE_GONE, why);
}

/* ---- silence ---- */

/* A program that reads nothing while so much waits for it that the manager is
 * held would keep the other side waiting, too. */
static void
look_at_reading(struct companion *c, int64_t now)
{
    struct program *p = &c->program;
    int64_t deadline_ms = proxy_setup(c->proxy)->deadline_ms;

    if (p->out_closed ||
        channel_pending(&p->channel) <= c->host->max_queued / 4) {
        c->stuck_at_ns = 0;
    } else if (c->stuck_at_ns == 0 || c->written != p->written) {
        c->stuck_at_ns = now + deadline_ms * MS;
        c->written = p->written;
    } else if (now >= c->stuck_at_ns) {
        c->stuck_at_ns = 0;
        snprintf(c->why, sizeof c->why, "has read nothing for %" PRId64 " ms",
                 deadline_ms);
        kill_program(c);
    }
}

static void
take_silence(struct companion *c)
{
    size_t pending = frame_pending(&c->program.decoder);
    char due[128], how[256];

    proxy_name_due(c->proxy, due, sizeof due);
    if (pending > 0)
        snprintf(how, sizeof how,
                 "silent for %" PRId64 " ms, %zu bytes into a frame, expected "
                 "%s (is the frame's length right, is all of it flushed?)",
                 proxy_setup(c->proxy)->deadline_ms, pending, due);
    else
        snprintf(how, sizeof how,
                 "silent for %" PRId64 " ms, expected %s (does it flush its "
                 "output? is classArgs.deadline long enough?)",
                 proxy_setup(c->proxy)->deadline_ms, due);
    take_event(c, SIDE_LATE, how);
}

/* Looks whether the program has been silent for too long. */
static void
look_at_clock(struct companion *c, int64_t now)
{
    look_at_reading(c, now);
    if (c->kill_at_ns != 0 && now >= c->kill_at_ns) {
        c->kill_at_ns = 0;
        if (c->why[0] == '\0')
            snprintf(c->why, sizeof c->why,
                     "it closed its output and went on, expected its end");
        kill_program(c);
    }
    if (!side_waits(c->side)) {
        c->late_at_ns = 0;
    } else if (c->late_at_ns == 0 || c->heard || manager_lags(c)) {
        c->late_at_ns = now + proxy_setup(c->proxy)->deadline_ms * MS;
    } else if (now >= c->late_at_ns) {
        c->late_at_ns = 0;
        take_silence(c);
    }
    c->heard = false;
}

int64_t
companions_next_ns(const struct companions *cs)
{
    int64_t first = 0;

    for (size_t i = 0; i < cs->n; i++) {
        const struct companion *c = &cs->list[i];
        const int64_t times[] = {c->late_at_ns, c->kill_at_ns, c->stuck_at_ns};

        for (int k = 0; k < 3 && !log_is_held(c); k++)
            if (times[k] != 0 && (first == 0 || times[k] < first))
                first = times[k];
    }
    return first;
}

/* ---- served by the loop ---- */

size_t
companions_poll(const struct companions *cs, struct pollfd *fds)
{
    for (size_t i = 0; i < cs->n; i++, fds += N_FDS) {
        const struct companion *c = &cs->list[i];
        const struct program *p = &c->program;
        bool writes = channel_pending(&p->channel) > 0 && !log_is_held(c);
        bool full = log_is_held(c) || manager_lags(c);

        fds[0] = (struct pollfd){p->out_closed || full ? -1 : p->channel.in,
                                 POLLIN, 0};
        fds[1] = (struct pollfd){writes ? p->channel.out : -1, POLLOUT, 0};
        fds[2] = (struct pollfd){full ? -1 : p->pidfd, POLLIN, 0};
    }
    return cs->n * N_FDS;
}

/* Reads what a program wrote before it ended, which comes before its end; what
 * its children write behind it does not count: they may never end. */
static void
read_rest(struct companion *c)
{
    struct program *p = &c->program;
    struct pollfd more = {p->channel.in, POLLIN, 0};
    uint64_t rest;
    bool last = false;

    program_kill(p);
    rest = program_received(p) + program_unread(p);
    while (!p->out_closed && !last && c->held == NO_INPUT &&
           poll(&more, 1, 0) > 0) {
        last = program_received(p) >= rest;
        read_frames(c);
    }
}

static void
serve_companion(struct companion *c, const struct pollfd *fds)
{
    if (fds[0].revents != 0)
        read_frames(c);
    program_write(&c->program);
    if (fds[2].revents == 0)
        return;
    read_rest(c);
    if (c->held == NO_INPUT)
        take_exit(c);
}

void
companions_serve(struct companions *cs, const struct pollfd *fds)
{
    for (size_t i = 0; i < cs->n; i++, fds += N_FDS) {
        struct companion *c = &cs->list[i];

        if (c->program.pid != 0 && !log_is_held(c))
            serve_companion(c, fds);
        if (!log_is_held(c)) {
            look_at_clock(c, clock_monotonic_ns());
        } else { /* while the log cannot be written, silence is not the
                    program's fault */
            c->heard = true;
            c->stuck_at_ns = 0;
        }
    }
}

size_t
companions_bytes(const struct companions *cs)
{
    size_t bytes = 0;

    for (size_t i = 0; i < cs->n; i++)
        bytes += channel_pending(&cs->list[i].program.channel) +
                 proxy_bytes(cs->list[i].proxy);
    return bytes;
}

void
companions_go_on(struct companions *cs)
{
    for (size_t i = 0; i < cs->n; i++) {
        struct companion *c = &cs->list[i];
        bool is_frame = c->held == INPUT_FRAME;

        if (c->held == NO_INPUT || log_is_held(c))
            continue;
        handle_input(c);
        if (is_frame)
            take_frames(c);
    }
}

void
companions_take_back(struct companions *cs)
{
    for (size_t i = 0; i < cs->n; i++) {
        struct companion *c = &cs->list[i];

        if (c->held == NO_INPUT)
            continue;
        c->held = NO_INPUT;
        --*c->host->arrivals;
        logwriter_take_back(c->commandlog);
    }
}

/* ---- the manager's commands ---- */

static struct companion *
find_companion(struct companions *cs, enum sender side)
{
    for (size_t i = 0; i < cs->n; i++)
        if (cs->list[i].sender == side)
            return &cs->list[i];
    return NULL;
}

bool
companions_tell(struct companions *cs, enum sender side, struct chain *chain)
{
    struct companion *c = find_companion(cs, side);
    struct command *cmd;
    struct err err;

    if (c == NULL)
        return false;
    while ((cmd = chain_take(chain)) != NULL) {
        check_proxy(c, side_command(c->side, cmd, &err), &err);
        gauge_subtract(c->host->gauge, cmd->cost);
        command_free(cmd);
    }
    take_failed_start(c);
    return true;
}

/* ---- the stop ---- */

void
companions_terminate(struct companions *cs)
{
    for (size_t i = 0; i < cs->n; i++)
        cs->list[i].terminated = true;
}

/* Whether the program still owes an answer, so that a stop waits for it. */
static bool
is_at_work(const struct companion *c)
{
    return c->program.pid != 0 && !c->program.leaving && !c->terminated &&
           side_waits(c->side) && !manager_lags(c);
}

bool
companions_end(struct companions *cs)
{
    bool ended = true;

    for (size_t i = 0; i < cs->n; i++) {
        struct companion *c = &cs->list[i];

        if (c->program.pid == 0)
            continue;
        ended = false;
        if (c->program.leaving || is_at_work(c))
            continue;
        program_send(&c->program, CMD_TERMINATE, NULL, 0);
        program_hang_up(&c->program);
    }
    return ended;
}

static void
kill_and_reap(struct program *p)
{
    char how[64];

    if (p->pid == 0)
        return;
    program_kill(p);
    program_reap(p, how, sizeof how);
}

bool
companions_kill(struct companions *cs)
{
    bool at_work = false;

    for (size_t i = 0; i < cs->n; i++) {
        struct companion *c = &cs->list[i];

        if (c->program.pid == 0)
            continue;
        log_warning(c->host->log,
                    "%s: %s within the grace of %" PRId64 " ms: killed",
                    proxy_setup(c->proxy)->title,
                    is_at_work(c) ? "did not answer" : "did not end",
                    c->host->grace_ms);
        at_work |= is_at_work(c);
        kill_and_reap(&c->program);
    }
    return at_work;
}

/* ---- begin and end ---- */

static int
add_companion(struct companions *cs, enum sender sender, struct side *side,
              bool begins, struct err *err)
{
    struct companion *c = &cs->list[cs->n++];

    *c = (struct companion){.host = &cs->host,
                            .sender = sender,
                            .side = side,
                            .proxy = side_proxy(side),
                            .program = PROGRAM_NONE};
    proxy_connect(c->proxy, (struct proxy_port){send_frame, start_again, c});
    if (!begins || start_program(c, err) == 0)
        return 0;
    err->code = ERR_CONFIG;
    return err_place(err, "%s", proxy_setup(c->proxy)->title);
}

struct companions *
companions_new(const struct companion_host *host, struct side *const sides[2],
               bool begins, struct err *err)
{
    struct companions *cs = calloc(1, sizeof *cs);

    if (cs == NULL) {
        err_set(err, ERR_MEMORY, "programs: out of memory");
        return NULL;
    }
    cs->host = *host;
    for (int i = 0; i < 2; i++)
        if (side_proxy(sides[i]) != NULL &&
            add_companion(cs, (enum sender)i, sides[i], begins, err) != 0) {
            companions_free(cs);
            return NULL;
        }
    return cs;
}

void
companions_log_to(struct companions *cs, struct logwriter *commandlog)
{
    for (size_t i = 0; i < cs->n; i++)
        cs->list[i].commandlog = commandlog;
}

void
companions_leave(struct companions *cs)
{
    for (size_t i = 0; i < cs->n; i++)
        take_event(&cs->list[i], SIDE_LEFT, "with the dispatcher before");
}

void
companions_free(struct companions *cs)
{
    for (size_t i = 0; cs != NULL && i < cs->n; i++)
        kill_and_reap(&cs->list[i].program);
    free(cs);
}
