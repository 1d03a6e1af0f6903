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

/* so many bytes may wait, and one more message */
#define RELAY_FULL ((size_t)1 << 20)

struct relay_message {
    struct relay_message *next;
    size_t len;
    char bytes[];
};

struct relay {
    int fd; /* the dispatcher's; -1: closed */
    size_t max_payload, max_message;
    enum dialect dialect;
    const struct log *log;

    struct buf message; /* of the manager, as far as it was received */
    size_t lost;        /* bytes of it beyond the maximum, which were dropped */
    /* Frames for the dispatcher, not written yet, from `at` on. */
    struct buf frames;
    size_t at;
    bool finishing; /* behind these frames the dispatcher gets an end of file */
    bool finished;  /* it has got that */

    struct frame_decoder decoder; /* of the dispatcher's frames */
    bool ended;                   /* the dispatcher sends no more */
    bool muted;                   /* the dispatcher's frames are dropped */
    struct relay_message *first, **last;
    size_t waiting; /* bytes of the messages that wait to be sent */
};

/* Begins; takes fd. */
void relay_init(struct relay *r, int fd, size_t max_payload,
                const struct log *log);
void relay_fini(struct relay *r);

/* ---- from the manager ---- */

/* Takes in a part of a message; `last`: it is complete, and *m says what it is.
 * -1: it cannot be passed on, and so nothing behind it can. */
int relay_receive(struct relay *r, const void *part, size_t len, bool last,
                  enum message *m, struct err *err);
/* The connection is lost: drops the message that was partly received. */
void relay_forget(struct relay *r);
/* Whether so much waits for the dispatcher that nothing more should be
 * received. */
bool relay_holding(const struct relay *r);
/* Gives the dispatcher an end of file behind what waits; what it sends from
 * here on is dropped. */
void relay_finish(struct relay *r);

/* ---- with the dispatcher ---- */

/* Which of POLLIN and POLLOUT the dispatcher's socket is to be polled for. */
short relay_events(const struct relay *r);
/* Reads and writes what is possible, behind poll(2).  An end of the dispatcher,
 * orderly or not, shows as `ended`.  -1: what it sent cannot be passed on, and
 * so nothing behind it can; it has ended for us, too. */
int relay_serve(struct relay *r, struct err *err);

/* ---- to the manager ---- */

/* The message to be sent next, NULL when there is none yet; it stays where it
 * is until relay_sent(). */
struct relay_message *relay_next(struct relay *r);
void relay_sent(struct relay *r);
/* Adds an ER with this text for the manager, whose dialect is known. */
void relay_error(struct relay *r, const char *text);

#endif
