/* SPDX-License-Identifier: MIT */
/* watch.h - one descriptor that becomes readable when the dispatcher's socket
 * is ready or a time has come, so that a loop of others can wait for both.
 * One thread. */
#ifndef BRIDGE_WATCH_H
#define BRIDGE_WATCH_H

#include <stdint.h>

struct err;

struct watch {
    int fd; /* an epoll; whoever waits takes a duplicate */
    int timer;
    int socket;   /* in the epoll; -1: none */
    short events; /* it is waited for */
    int64_t due_ns;
};
#define WATCH_CLOSED ((struct watch){.fd = -1, .timer = -1, .socket = -1})

int watch_open(struct watch *w, struct err *err);
void watch_close(struct watch *w);

/* Waits for these poll(2) events of the socket (0: for none), and until this
 * time on the monotonic clock (INT64_MAX: for ever). */
void watch_set(struct watch *w, int socket, short events, int64_t due_ns);

/* Waits, from here on, also until this one is readable, or no more. */
void watch_also(const struct watch *w, int fd);
void watch_not(const struct watch *w, int fd);

/* Forgets that the time has come. */
void watch_drain(const struct watch *w);

#endif
