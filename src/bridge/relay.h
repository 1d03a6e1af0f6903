/* SPDX-License-Identifier: MIT */
/* relay.h - what is under way between the dispatcher's socket and the
 * WebSocket: frames to the one, messages to the other.
 *
 * Neither side can make it grow without end: when much waits for the
 * dispatcher the caller stops reading messages, when much waits for the
 * manager no frames are read.  A message stays here until it is sent, so what
 * the dispatcher says while there is no connection is sent over the next one.
 * Never blocks.  One thread. */
#ifndef BRIDGE_RELAY_H
#define BRIDGE_RELAY_H

#include "bridge/dialect.h"
#include "core/buf.h"
#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct log;

#define RELAY_FULL ((size_t)1 << 20) /* bytes that may wait, and one more */

struct relay_message {
    struct relay_message *next;
    size_t len;
    char bytes[];
};

struct relay {
    int fd; /* to the dispatcher; -1: closed */
    size_t max_payload, max_message;
    enum dialect dialect;
    const struct log *log;

    struct buf message; /* the manager's, as far as it has come */
    size_t lost;        /* bytes of it that were over the maximum */
    struct buf frames;  /* wait for the dispatcher, from `at` */
    size_t at;
    bool finishing; /* after them: end of file */
    bool finished;  /* it has been told */

    struct frame_decoder decoder; /* what the dispatcher says */
    bool ended;                   /* it says no more */
    bool muted;                   /* its frames are dropped */
    struct relay_message *first, **last;
    size_t waiting; /* bytes of them */
};

/* Takes fd. */
void relay_init(struct relay *r, int fd, size_t max_payload,
                const struct log *log);
void relay_fini(struct relay *r);

/* ---- from the manager ---- */

/* A part of a message; `last`: it is complete.  *m says what it was, then.
 * -1: it cannot be passed on, and so nothing can after it. */
int relay_receive(struct relay *r, const void *part, size_t len, bool last,
                  enum message *m, struct err *err);
/* The connection is gone: the rest of a message will not come. */
void relay_forget(struct relay *r);
/* No more should be received. */
bool relay_holding(const struct relay *r);
/* The dispatcher is to be told its end of file behind what waits; and nothing
 * that it says from here on matters. */
void relay_finish(struct relay *r);

/* ---- with the dispatcher ---- */

/* Which of POLLIN and POLLOUT the socket is to be waited for. */
short relay_events(const struct relay *r);
/* Reads and writes what can be; to be called when poll(2) says so.  An end of
 * the dispatcher, orderly or not, shows as `ended`.  -1: what it said cannot be
 * passed on, and so nothing can after it; it has ended for us, too. */
int relay_serve(struct relay *r, struct err *err);

/* ---- to the manager ---- */

/* The message to be sent next, NULL when there is none yet; it stays where it
 * is until relay_sent(). */
struct relay_message *relay_next(struct relay *r);
void relay_sent(struct relay *r);
/* Adds an ER with this text; only once the dialect is known. */
void relay_error(struct relay *r, const char *text);

#endif
