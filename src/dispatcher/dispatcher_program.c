/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A program is a second peer of the main thread.  What it sends is numbered,
 * logged and handled here, one frame after the other, as its proxy waits for
 * nobody; so is its silence, when the proxy needs an answer, and its end,
 * which counts only when its last byte has been read and its exit status is
 * known.
 *
 * program     the process and its two pipes (program.h)
 * proxy       what stands for it: the state of that side (proxy.h)
 * port        how the proxy reaches the program; none in replay
 * companion   both together, with the clock on them: what is served here */

#include "core/clock.h"
#include "core/err.h"
#include "dispatcher/dispatcher_state.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/queue.h"
#include "log/writer.h"
#include "quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000          /* nanoseconds */
#define EXIT_NS (1000 * MS) /* for who has closed its output */

/* ---- inputs ---- */

/* What its proxy makes of an input; rc is -1 when that ends the session, err
 * says why.  What ended it first is what is told. */
static void
take(struct companion *c, int rc, const struct err *err)
{
    struct dispatcher *d = c->dispatcher;

    if (rc == 0 || d->end == DISPATCHER_FAILED)
        return;
    *d->err = *err;
    dispatcher_fail(d, DRAINING);
}

static void take_failed_start(struct companion *c);

/* Once it is in the log. */
static void
handle_event(struct companion *c)
{
    struct err err;

    c->waits = WAITS_NOT;
    take(c, side_event(c->side, c->arrival, c->event, c->how, &err), &err);
    take_failed_start(c);
}

static void
handle_frame(struct companion *c)
{
    struct err err;

    c->waits = WAITS_NOT;
    take(c, side_frame(c->side, c->arrival, &c->frame, &err), &err);
}

/* What was recorded takes effect, or waits until it can be. */
static void
log_then(struct companion *c, enum companion_waits what,
         void (*handle)(struct companion *))
{
    c->waits = what;
    if (dispatcher_log(c->dispatcher))
        handle(c);
    else if (!logwriter_held(c->dispatcher->commandlog))
        c->waits = WAITS_NOT;
}

void
companion_event(struct companion *c, enum side_event event, const char *how)
{
    struct dispatcher *d = c->dispatcher;
    char text[sizeof c->how + 8];

    if (d->phase == TERMINATING)
        return;
    c->event = event;
    snprintf(c->how, sizeof c->how, "%s", how);
    snprintf(text, sizeof text, "%s %s", side_event_name(event), c->how);
    c->arrival = ++d->arrivals;
    logwriter_text(d->commandlog,
                   c->sender == SENDER_DEFAULT ? RECORD_TUNER_EVENT
                                               : RECORD_ASSESSOR_EVENT,
                   c->arrival, text);
    log_then(c, WAITS_EVENT, handle_event);
}

static void
take_frame(struct companion *c)
{
    struct dispatcher *d = c->dispatcher;

    c->heard = true;
    if (d->phase == TERMINATING)
        return;
    c->arrival = ++d->arrivals;
    logwriter_frame(d->commandlog,
                    c->sender == SENDER_DEFAULT ? RECORD_TUNER_FRAME
                                                : RECORD_ASSESSOR_FRAME,
                    c->arrival, &c->frame);
    log_then(c, WAITS_FRAME, handle_frame);
}

/* Ends it, because of what stands in c->why. */
void
companion_hasten(struct companion *c)
{
    c->program.closed = c->hastened = true;
    program_kill(&c->program);
}

/* The usual reason is a print(), of which err shows one byte. */
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

/* Up to one that waits. */
static void
take_frames(struct companion *c)
{
    struct program *p = &c->program;
    enum frame_status status = FRAME_READY;
    struct err err;

    while (c->waits == WAITS_NOT &&
           (status = frame_next(&p->decoder, &c->frame, &err)) == FRAME_READY)
        take_frame(c);
    if (c->waits != WAITS_NOT)
        return;
    if (status == FRAME_BROKEN) {
        blame_bytes(c, &err);
        companion_hasten(c);
    } else if (p->closed) {
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
             c->hastened ? "killed" : how);
    c->why[0] = '\0';
    c->hastened = false;
    if (!expected)
        companion_event(c, SIDE_GONE, text);
}

/* ---- its proxy's port ---- */

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
    const struct session *session = c->dispatcher->session;

    c->heard = true;
    return program_start(&c->program, setup->argv, session->program_folder,
                         setup->seed, policy_direction(&session->policy),
                         c->dispatcher->setup->session.max_payload, err);
}

/* That it did not start becomes an input once those are handled that are
 * logged already. */
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
    companion_event(c, SIDE_GONE, why);
}

int
dispatcher_start_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];
        struct proxy_port port = {send_frame, start_again, c};

        *c = (struct companion){.dispatcher = d,
                                .sender = (enum sender)i,
                                .side = d->session->sides[i],
                                .proxy = side_proxy(d->session->sides[i]),
                                .program = PROGRAM_NONE};
        if (c->proxy == NULL)
            continue;
        proxy_connect(c->proxy, port);
        if (d->setup->resume == NULL && start_program(c, d->err) != 0) {
            d->err->code = ERR_CONFIG;
            return err_place(d->err, "%s", proxy_setup(c->proxy)->title);
        }
    }
    return 0;
}

/* ---- the manager's commands ---- */

bool
dispatcher_has_program(const struct dispatcher *d, enum sender side)
{
    return d->companions[side].proxy != NULL;
}

void
dispatcher_tell_program(struct dispatcher *d, enum sender side,
                        struct chain *chain)
{
    struct companion *c = &d->companions[side];
    struct command *next;
    struct err err;

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        take(c, side_command(c->side, cmd, &err), &err);
        gauge_subtract(&d->gauge, cmd->cost);
        command_free(cmd);
    }
    *chain = (struct chain){0};
    take_failed_start(c);
}

/* ---- the loop's ---- */

void
dispatcher_poll_programs(struct dispatcher *d, struct pollfd *fds)
{
    bool held = logwriter_held(d->commandlog);
    bool full = held || dispatcher_holds_programs(d);

    for (int i = 0; i < 2; i++, fds += COMPANION_POLLS) {
        const struct program *p = &d->companions[i].program;
        bool writes = channel_pending(&p->channel) > 0 && !held;

        fds[0] =
            (struct pollfd){p->closed || full ? -1 : p->channel.in, POLLIN, 0};
        fds[1] = (struct pollfd){writes ? p->channel.out : -1, POLLOUT, 0};
        fds[2] = (struct pollfd){full ? -1 : p->pidfd, POLLIN, 0};
    }
}

/* What it wrote before it ended comes before its end; what its children write
 * behind it does not: they may never end. */
static void
read_rest(struct companion *c)
{
    struct program *p = &c->program;
    struct pollfd more = {p->channel.in, POLLIN, 0};
    uint64_t rest;
    bool last = false;

    program_kill(p);
    rest = program_received(p) + program_unread(p);
    while (!p->closed && !last && c->waits == WAITS_NOT &&
           poll(&more, 1, 0) > 0) {
        last = program_received(p) >= rest;
        read_frames(c);
    }
}

static void
serve(struct companion *c, const struct pollfd *fds)
{
    if (fds[0].revents != 0)
        read_frames(c);
    program_write(&c->program);
    if (fds[2].revents == 0)
        return;
    read_rest(c);
    if (c->waits == WAITS_NOT)
        take_exit(c);
}

void
dispatcher_serve_programs(struct dispatcher *d, const struct pollfd *fds)
{
    for (int i = 0; i < 2; i++, fds += COMPANION_POLLS) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL)
            continue;
        if (c->program.pid != 0 && !logwriter_held(d->commandlog))
            serve(c, fds);
        if (!logwriter_held(d->commandlog)) {
            companion_look(c, clock_monotonic_ns());
        } else { /* that time is no silence of its */
            c->heard = true;
            c->stuck_at_ns = 0;
        }
    }
}

void
dispatcher_go_on_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->waits == WAITS_NOT || logwriter_held(d->commandlog))
            continue;
        if (c->waits == WAITS_EVENT) {
            handle_event(c);
        } else {
            handle_frame(c);
            take_frames(c);
        }
    }
}

void
dispatcher_forget_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->waits == WAITS_NOT)
            continue;
        c->waits = WAITS_NOT;
        d->arrivals--;
        logwriter_take_back(d->commandlog);
    }
}

size_t
dispatcher_program_bytes(const struct dispatcher *d)
{
    size_t bytes = 0;

    for (int i = 0; i < 2; i++) {
        const struct companion *c = &d->companions[i];

        if (c->proxy != NULL)
            bytes +=
                channel_pending(&c->program.channel) + proxy_bytes(c->proxy);
    }
    return bytes;
}

void
dispatcher_leave_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++)
        if (d->companions[i].proxy != NULL)
            companion_event(&d->companions[i], SIDE_LEFT,
                            "with the dispatcher before");
}
