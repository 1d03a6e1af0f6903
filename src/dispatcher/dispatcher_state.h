/* SPDX-License-Identifier: MIT */
/* dispatcher_state.h - what the files behind dispatcher.h share.  All of it is
 * the main thread's, but for what says otherwise.  Nobody else includes it. */
#ifndef DISPATCHER_DISPATCHER_STATE_H
#define DISPATCHER_DISPATCHER_STATE_H

#include "dispatcher/channel.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/gauge.h"
#include "dispatcher/worker.h"

#include "core/wake.h"
#include "frame.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum phase { RUNNING, DRAINING, TERMINATING };

struct side {
    struct queue *queue;
    struct worker worker;
    size_t warn_at;
    const char *letter; /* in skipped records */
};

struct dispatcher {
    const struct dispatcher_setup *setup;
    const struct log *log;
    struct session *session;
    struct channel channel;
    struct frame_decoder decoder;
    struct commandlog *commandlog;
    struct wake wake;
    int signal_fd;
    struct outbox *outbox;
    /* The reader writes decoder and arrivals for each frame, the workers the
     * gauge for each command: not on one cache line. */
    _Alignas(64) struct gauge gauge;
    _Alignas(64) struct side by_default, assessor;
    _Alignas(64) uint64_t arrivals;
    enum phase phase;
    enum dispatcher_end end;
    int signal_number;
    int64_t deadline_ns; /* of the stop */
    bool left;          /* a worker was still at work when the grace was over */
    int64_t sync_at_ns; /* 0: nothing to sync */
    atomic_bool closing; /* tells the default worker to drop requests */
    bool closed;         /* the default worker's: it has been told */
    struct err *err;
};

/* ---- dispatcher_flow.c ---- */

/* Reads once, then logs and routes every whole frame there is. */
void dispatcher_read(struct dispatcher *d);
/* Everything in the outbox goes into the log, then towards the channel. */
void dispatcher_take_outbox(struct dispatcher *d);
/* Writes what can be written without blocking. */
void dispatcher_write(struct dispatcher *d);

/* ---- dispatcher_stop.c ---- */

/* Begins a stop, or makes it a harder one. */
void dispatcher_stop(struct dispatcher *d, enum phase phase,
                     enum dispatcher_end end);
/* The same for a failure: d->err is set; the peer is told where the wire has a
 * word for it. */
void dispatcher_fail(struct dispatcher *d, enum phase phase);
/* Behind the loop: records what was left, and the end. */
void dispatcher_record_end(struct dispatcher *d);

#endif
