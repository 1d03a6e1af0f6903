/* SPDX-License-Identifier: MIT */
/* router.h - from inbound frames to commands in two queues, numbered by
 * arrival.  PROTOCOL.md, "Order".
 *
 * EN and intermediate metrics go to the assessor queue, everything else to the
 * default queue.  A trial's end concerns both: in the same step its half for
 * the tuner, stamped with what the marks know of the trial (marks.h), goes into
 * the default queue.  So a trial's final result comes before its end, and its
 * end before the next request, whatever the threads do.  With an advisor
 * everything goes to the default queue, ends unsplit; without an assessor ends
 * alone do.
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
struct objectives;
struct resend;
struct router;
struct unpack;
struct viewer;

struct router *router_new(const struct log *log, struct err *err);
void router_free(struct router *r);

/* For a manager with extensions: from now on the frames that it may not have
 * read are kept, and it may ask for answers to reports. */
void router_remember(struct router *r);
/* For a manager of NNI's: when it is started again it begins with IN, and its
 * AD names the earlier trials that it runs again.  reissue: as in policy.h.
 */
void router_serve_nni(struct router *r, bool reissue);
/* For a tuner that is an advisor: intermediate metrics and ends, unsplit, go
 * into the default queue, too, and nothing into the assessor queue. */
void router_serve_advisor(struct router *r);
/* Without an assessor: ends go unsplit into the default queue, and wake nobody
 * else. */
void router_keep_ends(struct router *r);
/* From now on metrics are read as values of these objectives, borrowed; one
 * that lacks a value is refused as one without a number is. */
void router_judge(struct router *r, const struct objectives *o);
/* The frames that the manager may not have read; empty without
 * router_remember().  Borrowed. */
const struct resend *router_unread(const struct router *r);

struct routed {
    struct chain by_default; /* for the default queue */
    struct chain assessor;   /* for the assessor queue */
    size_t bytes;            /* memory that all these commands take */
};

enum router_result {
    ROUTER_ON,        /* read on */
    ROUTER_TERMINATE, /* TE: nothing after it counts */
    ROUTER_MEMORY,    /* out of memory: the session must end */
};

/* Decodes the frame that arrived as number `arrival` and adds what comes of it
 * to *out.  A frame that cannot be used costs one line. */
enum router_result router_frame(struct router *r, const struct frame *frame,
                                uint64_t arrival, struct routed *out);

/* How many frames the manager has sent so far. */
uint64_t router_frames(const struct router *r);

/* Shows the living trials to the viewer (view.h). */
void router_see(const struct router *r, const struct viewer *viewer);

/* An outbound frame was written (or stands in the log): the marks and the
 * frames to be resent take note of it.  Out of memory shows at the next
 * router_frame(). */
void router_written(struct router *r, const struct emission *e);

/* Packs what the router knows, and reads it into a new one that serves the same
 * kind of manager, as pack.h says; -1: damaged, or out of memory. */
void router_save(const struct router *r, struct buf *out);
int router_load(struct router *r, struct unpack *in);

#endif
