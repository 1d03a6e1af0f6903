/* SPDX-License-Identifier: MIT */
/* bridge.h - between a dispatcher that speaks frames on a socket and a manager
 * of NNI 2.8 to 3.0, whose messages travel over a WebSocket.
 *
 * The bridge lives in a process of its own, apart from the dispatcher: however
 * long a tuner computes, and even when it crashes, pings are answered, a lost
 * connection is made again, and the manager is told what has happened.
 * It is one shared object, loaded only when there is a URL; see
 * cli/module.h.  One thread. */
#ifndef BRIDGE_BRIDGE_H
#define BRIDGE_BRIDGE_H

#include <stddef.h>

struct err;
struct log;
struct wake;

struct bridge_setup {
    const char *url; /* ws://HOST:PORT/PATH */
    int frames;      /* a socket, taken: frames of 14 digits both ways; its end
                        of file: the dispatcher has ended */
    /* Called once, when `frames` is at its end; returns why the dispatcher
     * ended, a text for the manager; NULL: in order.  May wait for the
     * process. */
    const char *(*epitaph)(void *arg);
    void *arg;
    /* Signalled by the dispatcher when another one wants its log: where there
     * is no connection then, there will be none.  NULL: never. */
    const struct wake *wanted;
    const struct log *log;
    size_t max_payload; /* bytes, as the dispatcher's; 0: its default */
};

/* Runs the bridge.  0: the manager and the dispatcher have parted in order; -1:
 * err tells (could not connect, the manager is gone, ...).  In both cases the
 * dispatcher has been sent an end of file, and `frames` is closed. */
__attribute__((visibility("default"))) int bridge_run(
    const struct bridge_setup *setup, struct err *err);

/* The name under which bridge_run() is looked up in the shared object. */
#define BRIDGE_SYMBOL "bridge_run"
typedef int bridge_run_fn(const struct bridge_setup *setup, struct err *err);

#endif
