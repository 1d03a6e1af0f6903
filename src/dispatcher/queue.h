/* SPDX-License-Identifier: MIT */
/* queue.h - FIFO of commands between the router and one worker.  Any thread.
 * Ownership of a command moves in with push and out with pop. */
#ifndef DISPATCHER_QUEUE_H
#define DISPATCHER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct err;

struct queue;

struct queue *queue_new(const char *name, struct err *err);
void queue_free(struct queue *q); /* frees what is left in it */

/* Commands linked by ->next, pushed in one step: one lock, one wake-up. */
struct chain {
    struct command *first, *last;
    size_t count;
};
void chain_add(struct chain *c, struct command *cmd); /* takes cmd */
struct command *chain_take(struct chain *c); /* the first; NULL: it is empty */
void chain_clear(struct chain *c);           /* frees the commands */

/* Takes the chain and empties *c; false once closed: then it is freed.
 * *length becomes the number of commands waiting. */
bool queue_push(struct queue *q, struct chain *c, size_t *length);

/* Blocks until there is a command; NULL: closed and empty.  Takes the command
 * popped before (NULL: none): small ones are freed by the next push, because
 * malloc is quicker when the thread that allocates is the one that frees.  The
 * worker is busy with a command until it pops again. */
struct command *queue_pop(struct queue *q, struct command *used);

/* No more pushes; what is in it can still be popped. */
void queue_close(struct queue *q);

/* Closes it and takes out everything that waits, for who stops without its
 * worker; *busy becomes the arrival number of what the worker is busy with, 0
 * for nothing.  All in one step: each command pushed is one of left, busy or
 * handled. */
struct chain queue_abandon(struct queue *q, uint64_t *busy);

const char *queue_name(const struct queue *q);

#endif
