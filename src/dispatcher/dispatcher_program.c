/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * A program is a second peer of the main thread.  What it sends is numbered,
 * logged and handled here, one frame after the other, as its proxy waits for
 * nobody; so is its silence, when the proxy needs an answer, and its end,
 * which counts only when its last byte has been read and its exit status is
 * known. */

#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "dispatcher/commandlog.h"
#include "dispatcher/dispatcher_state.h"
#include "dispatcher/outbox.h"
#include "dispatcher/proxy.h"
#include "dispatcher/proxy_setup.h"
#include "dispatcher/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000          /* nanoseconds */
#define EXIT_NS (1000 * MS) /* for who has closed its output */

/* ---- inputs ---- */

/* What its proxy makes of an input; rc is -1 when that ends the session. */
static void
take(struct companion *c, int rc)
{
    if (rc != 0)
        dispatcher_fail(c->dispatcher, DRAINING);
}

static bool
log_flushed(struct dispatcher *d)
{
    if (commandlog_flush(d->commandlog, d->err) == 0)
        return true;
    dispatcher_fail(d, TERMINATING);
    return false;
}

static void
take_event(struct companion *c, enum proxy_event event, const char *how)
{
    struct dispatcher *d = c->dispatcher;
    char text[sizeof c->why + 80];

    if (d->phase == TERMINATING)
        return;
    snprintf(text, sizeof text, "%s %s", proxy_event_name(event), how);
    commandlog_event(d->commandlog, c->side, ++d->arrivals, text);
    if (log_flushed(d))
        take(c, proxy_event(c->proxy, d->arrivals, event, how, d->err));
}

static void
take_frame(struct companion *c, const struct frame *frame)
{
    struct dispatcher *d = c->dispatcher;

    c->heard = true;
    if (d->phase == TERMINATING || c->program.leaving)
        return;
    commandlog_program(d->commandlog, c->side, ++d->arrivals, frame);
    if (log_flushed(d))
        take(c, proxy_frame(c->proxy, d->arrivals, frame, d->err));
}

/* Ends it, because of what stands in c->why. */
static void
hasten(struct companion *c)
{
    c->program.closed = true;
    program_kill(&c->program);
}

static void
read_frames(struct companion *c)
{
    struct program *p = &c->program;
    struct frame frame;
    enum frame_status status;
    struct err err;

    program_read(p);
    while ((status = frame_next(&p->decoder, &frame, &err)) == FRAME_READY)
        take_frame(c, &frame);
    if (status == FRAME_BROKEN) {
        snprintf(c->why, sizeof c->why, "%.199s", err.text);
        hasten(c);
    } else if (p->closed) {
        if (frame_pending(&p->decoder) > 0)
            snprintf(c->why, sizeof c->why,
                     "its output ends inside of a frame");
        c->kill_at_ns = clock_monotonic_ns() + EXIT_NS;
    }
}

static void
take_exit(struct companion *c)
{
    char how[64], text[sizeof c->why + sizeof how + 8];

    bool expected = c->program.leaving;

    program_reap(&c->program, how, sizeof how);
    c->late_at_ns = c->kill_at_ns = 0;
    snprintf(text, sizeof text, "%s%s%s", c->why, c->why[0] != '\0' ? "; " : "",
             how);
    c->why[0] = '\0';
    if (!expected)
        take_event(c, PROXY_GONE, text);
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

    c->heard = true;
    return program_start(&c->program, setup->argv, setup->seed,
                         c->dispatcher->setup->session.max_payload, err);
}

/* That it did not start becomes an input once this one is handled. */
static void
start_again(void *ctx)
{
    struct companion *c = ctx;
    struct err err;

    c->failed_start = start_program(c, &err) != 0;
    if (c->failed_start)
        snprintf(c->why, sizeof c->why, "%.199s", err.text);
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
    take_event(c, PROXY_GONE, why);
}

int
dispatcher_start_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];
        struct proxy_port port = {send_frame, start_again, c};

        *c = (struct companion){.dispatcher = d,
                                .side = (enum sender)i,
                                .proxy = d->session->proxies[i],
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

    for (struct command *cmd = chain->first; cmd != NULL; cmd = next) {
        next = cmd->next;
        take(c, proxy_command(c->proxy, cmd, d->err));
        take_failed_start(c);
        gauge_subtract(&d->gauge, cmd->cost);
        command_free(cmd);
    }
    *chain = (struct chain){0};
}

/* ---- the loop's ---- */

void
dispatcher_poll_programs(struct dispatcher *d, struct pollfd *fds)
{
    /* A flood of what it sends is held like the manager's. */
    bool full = d->phase == RUNNING &&
                outbox_bytes(d->outbox) + channel_pending(&d->channel) >
                    d->setup->max_queued;

    for (int i = 0; i < 2; i++, fds += COMPANION_POLLS) {
        const struct program *p = &d->companions[i].program;
        bool writes = channel_pending(&p->channel) > 0;

        fds[0] =
            (struct pollfd){p->closed || full ? -1 : p->channel.in, POLLIN, 0};
        fds[1] = (struct pollfd){writes ? p->channel.out : -1, POLLOUT, 0};
        fds[2] = (struct pollfd){full ? -1 : p->pidfd, POLLIN, 0};
    }
}

static void
look_at_time(struct companion *c, int64_t now)
{
    const struct proxy_setup *setup = proxy_setup(c->proxy);
    char how[80];

    if (c->kill_at_ns != 0 && now >= c->kill_at_ns) {
        c->kill_at_ns = 0;
        hasten(c);
    }
    if (!proxy_waits(c->proxy)) {
        c->late_at_ns = 0;
    } else if (c->late_at_ns == 0 || c->heard) {
        c->late_at_ns = now + setup->deadline_ms * MS;
    } else if (now >= c->late_at_ns) {
        c->late_at_ns = 0;
        snprintf(how, sizeof how, "silent for %" PRId64 " ms",
                 setup->deadline_ms);
        take_event(c, PROXY_LATE, how);
    }
    c->heard = false;
}

/* What it wrote before it ended comes before its end. */
static void
serve(struct companion *c, const struct pollfd *fds)
{
    struct program *p = &c->program;
    struct pollfd more = {p->channel.in, POLLIN, 0};

    if (fds[0].revents != 0)
        read_frames(c);
    program_write(p);
    if (fds[2].revents == 0)
        return;
    while (!p->closed && poll(&more, 1, 0) > 0)
        read_frames(c);
    take_exit(c);
}

void
dispatcher_serve_programs(struct dispatcher *d, const struct pollfd *fds)
{
    for (int i = 0; i < 2; i++, fds += COMPANION_POLLS) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL)
            continue;
        if (c->program.pid != 0)
            serve(c, fds);
        look_at_time(c, clock_monotonic_ns());
    }
}

int64_t
dispatcher_program_time(const struct dispatcher *d)
{
    int64_t first = 0;

    for (int i = 0; i < 2; i++) {
        const struct companion *c = &d->companions[i];
        const int64_t times[] = {c->late_at_ns, c->kill_at_ns};

        for (int k = 0; k < 2; k++)
            if (times[k] != 0 && (first == 0 || times[k] < first))
                first = times[k];
    }
    return first;
}

size_t
dispatcher_program_bytes(const struct dispatcher *d)
{
    return channel_pending(&d->companions[0].program.channel) +
           channel_pending(&d->companions[1].program.channel);
}

/* ---- the stop ---- */

static bool
is_at_work(const struct companion *c)
{
    return c->proxy != NULL && c->program.pid != 0 && !c->program.leaving &&
           c->dispatcher->phase == DRAINING && proxy_waits(c->proxy);
}

bool
dispatcher_end_programs(struct dispatcher *d)
{
    bool ended = true;

    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL || c->program.pid == 0)
            continue;
        ended = false;
        if (c->program.leaving || is_at_work(c))
            continue;
        program_send(&c->program, CMD_TERMINATE, NULL, 0);
        program_hang_up(&c->program);
    }
    return ended;
}

bool
dispatcher_kill_programs(struct dispatcher *d)
{
    bool at_work = false;

    for (int i = 0; i < 2; i++) {
        struct companion *c = &d->companions[i];

        if (c->proxy == NULL || c->program.pid == 0)
            continue;
        if (is_at_work(c))
            at_work = true;
        log_warning(d->log, "%s: %s within the grace of %" PRId64 " ms: killed",
                    proxy_setup(c->proxy)->title,
                    is_at_work(c) ? "did not answer" : "did not end",
                    d->setup->grace_ms);
    }
    dispatcher_free_programs(d);
    return at_work;
}

void
dispatcher_free_programs(struct dispatcher *d)
{
    char how[64];

    for (int i = 0; i < 2; i++) {
        struct program *p = &d->companions[i].program;

        if (p->pid == 0)
            continue;
        program_kill(p);
        program_reap(p, how, sizeof how);
    }
}

void
dispatcher_leave_programs(struct dispatcher *d)
{
    for (int i = 0; i < 2; i++)
        if (d->companions[i].proxy != NULL)
            take_event(&d->companions[i], PROXY_LEFT,
                       "with the dispatcher before");
}
