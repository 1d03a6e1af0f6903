/* SPDX-License-Identifier: MIT */
#include "bridge/bridge.h"

#include "bridge/address.h"
#include "bridge/link.h"
#include "bridge/owner.h"
#include "bridge/relay.h"
#include "bridge/watch.h"
#include "bridge/websocket.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/log.h"
#include "core/process.h"
#include "core/wake.h"
#include "frame.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* DESIGN.  Whatever happens, happens in websocket_service(): what the manager
 * sends, or that the watch looks up, which waits for the dispatcher's socket
 * and for the time.  The handlers only note it, in the link (times, and who
 * has parted) and in the relay (bytes); then turn() does what follows of it:
 *
 *   dispatcher <=> relay <=> turn() <=> websocket <=> manager
 *                              |
 *                             link
 *
 * A manager is a process: once the one that we were connected to has ended,
 * whoever listens on its port is not called any more, for that is another one,
 * which has a dispatcher of its own. */

struct bridge {
    const struct bridge_setup *setup;
    const struct log *log;
    struct address address;
    struct link link;
    struct relay relay;
    struct watch watch;
    struct websocket *ws;

    struct hosts hosts; /* tried one by one */
    size_t host;        /* index of the next one */
    bool calling;
    char problem[256]; /* why the last call failed */
    int manager;       /* its pidfd; -1: not known, or it has ended */
    bool orphaned;     /* the manager's process has ended */

    bool begun; /* a message is partly sent */
    bool want_ping, want_pong, want_close;
    bool reaped;       /* the epitaph was asked for */
    bool mourning;     /* the manager is to be told `last_words` */
    bool over;         /* there will be no connection any more */
    const char *words; /* why the dispatcher ended, for the manager */
    struct err broken; /* why nothing can be passed on any more */
};

/* ---- what happens ---- */

static void
on_up(void *arg)
{
    struct bridge *b = arg;

    b->calling = false;
    log_info(b->log, "%s: %s", b->setup->url,
             b->link.was_up ? "connected again" : "connected to the manager");
    link_up(&b->link, clock_monotonic_ns());
    if (b->manager < 0) {
        b->manager = owner_open(websocket_socket(b->ws));
        watch_also(&b->watch, b->manager);
    }
}

static void
on_failed(void *arg, const char *why)
{
    struct bridge *b = arg;

    b->calling = false;
    snprintf(b->problem, sizeof b->problem, "%s", why);
    log_debug(b->log, "%s: %s: %s", b->setup->url,
              b->hosts.text[b->host > 0 ? b->host - 1 : 0], why);
}

static void
forget_connection(struct bridge *b)
{
    b->begun = b->want_close = b->want_ping = b->want_pong = false;
    relay_forget(&b->relay);
}

static void
on_closed(void *arg, unsigned code)
{
    struct bridge *b = arg;

    forget_connection(b);
    link_closed(&b->link, clock_monotonic_ns(), code);
    if (b->link.phase != LINK_DOWN)
        return;
    if (code == 0)
        log_warning(b->log, "the connection to the manager is lost");
    else
        log_warning(b->log, "the manager has closed the connection (%u)", code);
}

/* Ends the dispatcher, and tells the manager why, because something could not
 * be passed on: nothing can follow that. */
static void
break_off(struct bridge *b, const struct err *err)
{
    log_error(b->log, "%s", err->text);
    b->broken = *err;
    b->begun = false; /* what is partly sent goes on by itself */
    relay_finish(&b->relay);
}

static void
on_part(void *arg, const void *data, size_t len, bool last)
{
    struct bridge *b = arg;
    enum dialect before = b->relay.dialect;
    enum message m;
    struct err err;

    link_pong(&b->link, clock_monotonic_ns());
    if (relay_receive(&b->relay, data, len, last, &m, &err) != 0)
        break_off(b, &err);
    link_heard(&b->link, m);
    b->link.dialect = b->relay.dialect;
    if (before != b->relay.dialect)
        log_info(b->log, "the manager speaks as %s does",
                 dialect_name(b->relay.dialect));
}

static void
on_pong(void *arg)
{
    struct bridge *b = arg;

    link_pong(&b->link, clock_monotonic_ns());
}

static void
send_message(struct bridge *b)
{
    const struct relay_message *m = relay_next(&b->relay);

    switch (websocket_send(b->ws, m->bytes, m->len)) {
    case WEBSOCKET_SENT:
        relay_sent(&b->relay);
        break;
    case WEBSOCKET_BEGUN:
        b->begun = true;
        break;
    case WEBSOCKET_FAILED: /* that it is closed follows */
        break;
    }
}

static void
on_writable(void *arg)
{
    struct bridge *b = arg;

    if (b->begun)
        relay_sent(&b->relay);
    b->begun = false;
    if (b->want_pong) {
        b->want_pong = false;
        websocket_pong(b->ws);
    } else if (b->want_ping) {
        b->want_ping = false;
        websocket_ping(b->ws);
    } else if (relay_next(&b->relay) != NULL) {
        send_message(b);
    } else if (b->want_close) {
        websocket_close(b->ws, link_close_code(&b->link));
    }
}

/* ---- what follows of it ---- */

/* Calls the next of the host's addresses; when there is none, the link says
 * when to begin with the first again. */
static void
call_next(struct bridge *b)
{
    struct err err;

    if (b->host == 0 && hosts_find(&b->hosts, b->address.host, &err) != 0) {
        snprintf(b->problem, sizeof b->problem, "%.250s", err.text);
        b->hosts.n = 0;
    }
    while (b->host < b->hosts.n && !b->calling && b->link.phase != LINK_UP) {
        b->calling = true;
        websocket_call(b->ws, &b->address, b->hosts.text[b->host++]);
    }
    if (b->calling || b->link.phase == LINK_UP)
        return;
    b->host = 0;
    link_failed(&b->link);
}

static void
drop(struct bridge *b)
{
    bool was_up = b->link.phase == LINK_UP;

    websocket_drop(b->ws);
    b->calling = false;
    if (was_up)
        on_closed(b, 0);
    else
        link_failed(&b->link);
}

static void
give_up(struct bridge *b, const char *why)
{
    websocket_drop(b->ws);
    b->calling = false;
    b->problem[0] = '\0';
    forget_connection(b);
    link_gone(&b->link, why);
}

/* Looks whether the manager has ended.  What it said before is read first, as
 * long as its end of the connection is not closed. */
static void
look_at_manager(struct bridge *b)
{
    if (b->manager >= 0 && process_ended(b->manager)) {
        watch_not(&b->watch, b->manager);
        close(b->manager);
        b->manager = -1;
        b->orphaned = true;
    }
    if (b->orphaned && b->link.phase != LINK_UP && b->link.phase != LINK_OVER)
        give_up(b, "the manager's process has ended");
}

static void
look_who_wants_it(struct bridge *b)
{
    struct pollfd p = {.events = POLLIN};

    if (b->setup->wanted == NULL)
        return;
    p.fd = b->setup->wanted->fd;
    if (poll(&p, 1, 0) <= 0)
        return;
    wake_drain(b->setup->wanted);
    if (b->link.phase != LINK_UP || b->orphaned)
        give_up(b, "another dispatcher wants the log, and there is no "
                   "connection to the manager");
}

/* Does what the link says.  False: there is nothing to do now. */
static bool
act_on_link(struct bridge *b)
{
    switch (link_next(&b->link, clock_monotonic_ns())) {
    case LINK_WAIT:
        return false;
    case LINK_CALL:
        b->host = 0;
        call_next(b);
        return true;
    case LINK_ABANDON:
        snprintf(b->problem, sizeof b->problem, "no answer");
        drop(b);
        return true;
    case LINK_PING:
        b->want_ping = true;
        return true;
    case LINK_PONG:
        b->want_pong = true;
        return true;
    case LINK_HANG_UP:
        drop(b);
        return true;
    case LINK_CLOSE:
        b->want_close = true;
        return true;
    case LINK_FINISHED:
        b->over = true;
        break;
    }
    return false;
}

/* Behind the dispatcher's end: tells the manager why it ended, unless the
 * manager wanted that.  It is told once it has spoken, in its own dialect. */
static void
tell_dispatcher_end(struct bridge *b)
{
    const struct link *l = &b->link;

    if (!b->reaped) {
        b->reaped = true;
        b->words =
            b->setup->epitaph == NULL ? NULL : b->setup->epitaph(b->setup->arg);
        if (b->broken.code != ERR_NONE)
            b->words = b->broken.text;
        else if (b->words == NULL)
            b->words = "the dispatcher has ended before the manager's TE";
        b->mourning = !l->terminated && !l->bye;
    }
    if (b->mourning && b->relay.dialect != DIALECT_UNKNOWN) {
        b->mourning = false;
        relay_error(&b->relay, b->words);
    }
    if (!b->mourning && relay_next(&b->relay) == NULL)
        link_ended(&b->link);
}

static void
pass_on(struct bridge *b)
{
    struct err err;

    if (relay_serve(&b->relay, &err) != 0)
        break_off(b, &err);
}

static void
turn(struct bridge *b)
{
    struct relay *r = &b->relay;

    pass_on(b);
    look_at_manager(b);
    look_who_wants_it(b);
    if (b->link.phase == LINK_CALLING && !b->calling)
        call_next(b);
    if (r->ended && !b->over)
        tell_dispatcher_end(b);
    link_hold(&b->link, clock_monotonic_ns(), relay_holding(r));
    websocket_hold(b->ws, b->link.holding);
    while (act_on_link(b))
        ;
    if (b->over && !r->finishing)
        relay_finish(r);
    pass_on(b);
    if (relay_next(r) != NULL || b->want_close || b->want_ping || b->want_pong)
        websocket_want(b->ws);
}

static int
serve(struct bridge *b, struct err *err)
{
    while (!b->over || !b->relay.ended) {
        turn(b);
        watch_set(&b->watch, b->relay.fd, relay_events(&b->relay),
                  link_due(&b->link));
        if (b->over && b->relay.ended)
            break;
        if (websocket_service(b->ws, err) != 0)
            return -1;
        watch_drain(&b->watch);
    }
    if (!b->reaped && b->setup->epitaph != NULL)
        b->setup->epitaph(b->setup->arg);
    if (link_verdict(&b->link, err) == 0)
        return 0;
    if (b->link.over_code == 0 && b->problem[0] != '\0')
        err_set(err, ERR_PROTOCOL, "%s: %s", b->link.why_over, b->problem);
    return err_place(err, "%.200s", b->setup->url);
}

static int
begin(struct bridge *b, struct err *err)
{
    static const struct websocket_handler calls = {
        .up = on_up,
        .failed = on_failed,
        .closed = on_closed,
        .part = on_part,
        .pong = on_pong,
        .writable = on_writable,
    };

    if (address_parse(&b->address, b->setup->url, err) != 0 ||
        watch_open(&b->watch, err) != 0)
        return -1;
    if (b->setup->wanted != NULL)
        watch_also(&b->watch, b->setup->wanted->fd);
    b->ws = websocket_new(&calls, b, b->watch.fd, err);
    return b->ws == NULL ? -1 : 0;
}

int
bridge_run(const struct bridge_setup *setup, struct err *err)
{
    struct bridge b = {.setup = setup,
                       .log = setup->log,
                       .watch = WATCH_CLOSED,
                       .manager = -1};
    int rc = -1;

    link_init(&b.link, clock_monotonic_ns());
    relay_init(&b.relay, setup->frames,
               setup->max_payload == 0 ? FRAME_PAYLOAD_MAX_DEFAULT
                                       : setup->max_payload,
               setup->log);
    if (begin(&b, err) == 0)
        rc = serve(&b, err);
    websocket_free(b.ws);
    watch_close(&b.watch);
    if (b.manager >= 0)
        close(b.manager);
    relay_fini(&b.relay);
    return rc;
}
