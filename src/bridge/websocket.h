/* SPDX-License-Identifier: MIT */
/* websocket.h - one WebSocket at a time, as a client: the only header behind
 * which libwebsockets lies.
 *
 * It answers pings and close frames by itself.  It uses no proxy, offers no
 * extension, wants no TLS.  One thread; the handler is called from
 * websocket_service() and websocket_call() only. */
#ifndef BRIDGE_WEBSOCKET_H
#define BRIDGE_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>

struct address;
struct err;
struct websocket;

struct websocket_handler {
    void (*up)(void *arg);
    void (*failed)(void *arg, const char *why); /* the attempt to connect */
    /* The connection is lost; the peer's close code, 0: without one. */
    void (*closed)(void *arg, unsigned code);
    void (*part)(void *arg, const void *data, size_t len, bool last);
    void (*pong)(void *arg);
    /* What websocket_want() asked for: one of the send functions may be
     * called, once. */
    void (*writable)(void *arg);
};

/* Makes a socket without a connection.  `watched` is a descriptor that ends
 * websocket_service() when it is readable, as any event does.  `handler` is
 * borrowed.  NULL: err says why. */
struct websocket *websocket_new(const struct websocket_handler *handler,
                                void *arg, int watched, struct err *err);
void websocket_free(struct websocket *ws);

/* Begins to connect to this host, given as a number; up() or failed() follows,
 * maybe before it returns.  There must be no other connection. */
void websocket_call(struct websocket *ws, const struct address *a,
                    const char *host);
/* Drops the connection or the attempt at once; no handler is called for it
 * again. */
void websocket_drop(struct websocket *ws);

/* The descriptor of the connection; -1: there is none. */
int websocket_socket(const struct websocket *ws);

/* Waits for an event and handles it.  -1: err says what broke. */
int websocket_service(struct websocket *ws, struct err *err);

/* Stops receiving parts, or goes on. */
void websocket_hold(struct websocket *ws, bool hold);

void websocket_want(struct websocket *ws);

/* Only from writable(): */
enum websocket_sent { WEBSOCKET_SENT, WEBSOCKET_BEGUN, WEBSOCKET_FAILED };
/* BEGUN: the rest goes by itself, before the next writable(); a connection
 * lost before that has not delivered it. */
enum websocket_sent websocket_send(struct websocket *ws, const char *text,
                                   size_t len);
void websocket_ping(struct websocket *ws);
void websocket_pong(struct websocket *ws); /* a pong that nobody asked for */
/* Asks for the connection to be closed; closed() follows, once the peer has
 * answered. */
void websocket_close(struct websocket *ws, unsigned code);

#endif
