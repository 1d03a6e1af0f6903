/* SPDX-License-Identifier: MIT */
/* bridge_script.h - a WebSocket for bridge_run() that is played from a script,
 * one step at each turn; what the bridge does with it is written down.  For
 * bridge_run_test.c. */
#ifndef TESTS_BRIDGE_SCRIPT_H
#define TESTS_BRIDGE_SCRIPT_H

#include "t.h"

#include "bridge/address.h"
#include "bridge/bridge.h"
#include "bridge/websocket.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    const char *const *steps; /* NULL: the end */
    int fd;                   /* the dispatcher's end; -1: closed */
    const char *epitaph;
    unsigned asked; /* how often for it */
    struct buf did;
} script;

struct websocket {
    const struct websocket_handler *handler;
    void *arg;
    int watched;
    bool calling, up, wanted, closing;
    bool slow, begun; /* what is sent does not go out */
};

struct websocket *
websocket_new(const struct websocket_handler *handler, void *arg, int watched,
              struct err *err)
{
    struct websocket *ws = calloc(1, sizeof *ws);

    (void)err;
    *ws =
        (struct websocket){.handler = handler, .arg = arg, .watched = watched};
    return ws;
}

void
websocket_free(struct websocket *ws)
{
    free(ws);
}

void
websocket_call(struct websocket *ws, const struct address *a, const char *host)
{
    CHECK(!ws->up && !ws->calling);
    buf_printf(&script.did, "call %s %s; ", host, a->path);
    ws->calling = true;
}

void
websocket_drop(struct websocket *ws)
{
    buf_add_text(&script.did, "drop; ");
    ws->up = ws->calling = ws->wanted = false;
}

int
websocket_socket(const struct websocket *ws)
{
    (void)ws;
    return -1;
}

void
websocket_hold(struct websocket *ws, bool hold)
{
    (void)ws;
    (void)hold;
}

void
websocket_want(struct websocket *ws)
{
    ws->wanted = ws->up;
}

enum websocket_sent
websocket_send(struct websocket *ws, const char *text, size_t len)
{
    buf_printf(&script.did, "%s%.*s; ", ws->slow ? "begin " : "", (int)len,
               text);
    ws->begun = ws->slow;
    return ws->slow ? WEBSOCKET_BEGUN : WEBSOCKET_SENT;
}

void
websocket_ping(struct websocket *ws)
{
    (void)ws;
    buf_add_text(&script.did, "ping; ");
}

void
websocket_pong(struct websocket *ws)
{
    (void)ws;
    buf_add_text(&script.did, "pong; ");
}

void
websocket_close(struct websocket *ws, unsigned code)
{
    buf_printf(&script.did, "close %u; ", code);
    ws->closing = true;
}

/* The argument of a step that begins with this word, or NULL. */
static const char *
word(const char *step, const char *is)
{
    size_t n = strlen(is);

    if (strncmp(step, is, n) != 0 || (step[n] != ' ' && step[n] != '\0'))
        return NULL;
    return step[n] == '\0' ? step + n : step + n + 1;
}

/* Waits for the dispatcher's end to have all of `want`. */
static void
expect(const char *want)
{
    char got[4096] = "";
    size_t n = 0;

    while (n < strlen(want)) {
        ssize_t k = recv(script.fd, got + n, sizeof got - 1 - n, 0);

        CHECK(k > 0);
        n += (size_t)k;
    }
    CHECK_STR(got, want);
}

static void
dispatcher_ends(void)
{
    close(script.fd);
    script.fd = -1;
}

static void
step(struct websocket *ws, const char *text)
{
    const char *arg;

    if ((arg = word(text, "up")) != NULL) {
        CHECK(ws->calling);
        ws->calling = false;
        ws->up = true;
        ws->handler->up(ws->arg);
    } else if ((arg = word(text, "fail")) != NULL) {
        CHECK(ws->calling);
        ws->calling = false;
        ws->handler->failed(ws->arg, arg);
    } else if ((arg = word(text, "say")) != NULL) {
        ws->handler->part(ws->arg, arg, strlen(arg), true);
    } else if ((arg = word(text, "gone")) != NULL) {
        ws->up = ws->wanted = ws->slow = ws->begun = false;
        ws->handler->closed(ws->arg, (unsigned)atoi(arg));
    } else if ((arg = word(text, "dispatcher")) != NULL) {
        CHECK_EQ(send(script.fd, arg, strlen(arg), 0), strlen(arg));
    } else if ((arg = word(text, "ends")) != NULL) {
        dispatcher_ends();
    } else if ((arg = word(text, "expect")) != NULL) {
        expect(arg);
    } else if ((arg = word(text, "slow")) != NULL) {
        ws->slow = true;
    } else if ((arg = word(text, "fast")) != NULL) {
        ws->slow = ws->begun = false;
    } else {
        CHECK(!"a step that is known");
    }
}

/* A step is taken when the bridge has nothing else to do. */
int
websocket_service(struct websocket *ws, struct err *err)
{
    struct pollfd p = {.fd = ws->watched, .events = POLLIN};

    (void)err;
    if (ws->wanted && ws->up && !ws->begun) {
        ws->wanted = false;
        ws->handler->writable(ws->arg);
        if (ws->closing) {
            ws->up = ws->closing = false;
            ws->handler->closed(ws->arg, 1000);
        }
    } else if (poll(&p, 1, 0) == 0 && *script.steps != NULL &&
               (ws->calling || ws->up)) {
        step(ws, *script.steps++);
    } else if (*script.steps != NULL || script.fd < 0) {
        poll(&p, 1, -1); /* until a time has come */
    } else {
        dispatcher_ends(); /* as it does at its end of file */
    }
    return 0;
}

static const char *
epitaph(void *arg)
{
    CHECK(arg == &script);
    script.asked++;
    return script.epitaph;
}

/* Runs the steps; the bridge ends with rc, having done `did`. */
static void
play(const char *const *steps, const char *words, int rc, const char *did,
     const char *error)
{
    static const struct log silent = {.fd = -1};
    struct bridge_setup setup = {.url = "ws://localhost:8/tuner",
                                 .epitaph = epitaph,
                                 .arg = &script,
                                 .log = &silent};
    struct err err = {0};
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    script.steps = steps;
    script.fd = pair[1];
    script.epitaph = words;
    script.asked = 0;
    buf_init(&script.did, 1 << 20);
    setup.frames = pair[0];
    CHECK_EQ(bridge_run(&setup, &err), rc);
    CHECK(*script.steps == NULL);
    CHECK_STR(buf_text(&script.did), did);
    CHECK_STR(err.text, error);
    CHECK_EQ(script.asked, 1);
    CHECK_EQ(write(pair[0], "", 1), -1);
    buf_fini(&script.did);
}

#endif
