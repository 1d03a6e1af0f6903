/* SPDX-License-Identifier: MIT */
/* router.h - from inbound frames to commands in two queues, numbered by
 * arrival.  PROTOCOL.md, "Order".
 *
 * EN and intermediate metrics go to the assessor queue, everything else to
 * the default queue.  A trial's end concerns both: in the same step the
 * tuner's half of it, stamped with what the marks know, goes into the default
 * queue.  So a trial's final result comes before its end, and its end before
 * the next request, whatever the threads do.  With an advisor everything goes
 * to the default queue, ends unsplit.
 *
 * One thread: the reader's, or replay's. */
#ifndef DISPATCHER_ROUTER_H
#define DISPATCHER_ROUTER_H

#include "command.h"
#include "dispatcher/queue.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct emission;
struct err;
struct frame;
struct log;
struct resend;
struct router;
struct unpack;
struct viewer;

struct router *router_new(const struct log *log, struct err *err);
void router_free(struct router *r);

/* From now on what the manager may not have read is kept, and it may ask for
 * answers: one with extensions. */
void router_remember(struct router *r);
/* The manager is NNI's: one that is started again begins with IN, and says of
 * the trials before it in AD which of them it runs again.  again: policy.h's.
 */
void router_serve_nni(struct router *r, bool again);
/* The tuner is an advisor: intermediate metrics and ends, unsplit, go into the
 * default queue, too, and nothing into the other one. */
void router_serve_advisor(struct router *r);
/* What is kept; empty without router_remember().  Borrowed. */
const struct resend *router_unread(const struct router *r);

struct routed {
    struct chain by_default; /* for the default queue */
    struct chain assessor;   /* for the assessor queue */
    size_t bytes;            /* what both cost */
};

enum router_word {
    ROUTER_ON,        /* read on */
    ROUTER_TERMINATE, /* TE: nothing after it counts */
    ROUTER_MEMORY,    /* out of memory: the session must end */
};

/* Decodes the frame that arrived as number `arrival` and adds what comes of it
 * to *out.  A frame that cannot be used costs one line. */
enum router_word router_frame(struct router *r, const struct frame *frame,
                              uint64_t arrival, struct routed *out);

/* The manager's frames so far. */
uint64_t router_frames(const struct router *r);

/* See view.h. */
void router_see(const struct router *r, const struct viewer *viewer);

/* An outbound frame was written (or stands in the log): see marks.h, resend.h.
 * Where there is no memory to keep it, the next router_frame() says so. */
void router_written(struct router *r, const struct emission *e);

/* As pack.h: what it knows behind the last frame and the last one written.
 * Into a new one that was told to remember, and to serve NNI, or not, as this
 * one; -1: damaged, or out of memory. */
void router_save(const struct router *r, struct buf *out);
int router_load(struct router *r, struct unpack *in);

#endif
