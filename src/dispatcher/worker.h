/* SPDX-License-Identifier: MIT */
/* worker.h - a thread that drains one queue and owns what its handler works on.
 *
 * While a command is handled, the worker's slot in the log's lock file holds
 * the command's arrival number, else 0: after a crash it says what the process
 * was at. */
#ifndef DISPATCHER_WORKER_H
#define DISPATCHER_WORKER_H

#include "core/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct command;
struct gauge;
struct lockslot;
struct queue;
struct wake;

/* What a worker does with a command; -1 ends the session. */
struct worker_job {
    void *ctx;
    int (*handle)(void *ctx, const struct command *cmd, struct err *err);
};

struct worker {
    pthread_t thread;
    bool started;
    struct queue *queue;
    struct worker_job job;
    struct gauge *gauge;
    const struct wake *wake;
    const struct lockslot *slot;
    atomic_bool finished; /* the thread is about to end */
    atomic_bool failed;   /* `err` is set, and no more commands are handled */
    struct err err;
};

/* Fills *w and starts the thread; everything is borrowed. */
int worker_start(struct worker *w, struct queue *queue, struct worker_job job,
                 struct gauge *gauge, const struct wake *wake,
                 const struct lockslot *slot, struct err *err);

/* Behind queue_close(): waits for the thread's end. */
void worker_join(struct worker *w);

#endif
