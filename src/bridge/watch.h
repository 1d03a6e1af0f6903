/* SPDX-License-Identifier: MIT */
/* watch.h - one descriptor that becomes readable when the dispatcher's socket
 * is ready or a time has come, so that a loop of others can wait for both.
 * One thread. */
#ifndef BRIDGE_WATCH_H
#define BRIDGE_WATCH_H

#include <stdint.h>

struct err;

struct watch {
    int fd; /* an epoll; a loop that waits for it takes a duplicate */
    int timer;
    int socket;   /* in the epoll; -1: none */
    short events; /* poll(2) events for which it is waited */
    int64_t due_ns;
};
#define WATCH_CLOSED ((struct watch){.fd = -1, .timer = -1, .socket = -1})

int watch_open(struct watch *w, struct err *err);
void watch_close(struct watch *w);

/* Waits for these poll(2) events of the socket (0: for none), and until this
 * time on the monotonic clock (INT64_MAX: for ever). */
void watch_set(struct watch *w, int socket, short events, int64_t due_ns);

/* From here on the watch also becomes readable when `fd` does; or no more. */
void watch_also(const struct watch *w, int fd);
void watch_not(const struct watch *w, int fd);

/* Clears the time that has come. */
void watch_drain(const struct watch *w);

#endif
