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

/* Commands linked by ->next, which are pushed in one step: one lock, one
 * wake-up. */
struct chain {
    struct command *first, *last;
    size_t count;
};
void chain_add(struct chain *c, struct command *cmd); /* takes cmd */
struct command *chain_take(struct chain *c); /* the first; NULL: empty */
void chain_clear(struct chain *c);           /* frees the commands */

/* Takes the commands and empties *c; false once the queue is closed: they are
 * then freed. *length becomes the number of commands waiting. */
bool queue_push(struct queue *q, struct chain *c, size_t *length);

/* Blocks until there is a command; NULL: closed and empty.  Takes `used`, the
 * command popped before (NULL: none): a small one is freed by the next push,
 * because malloc is quicker when the thread that allocates is the one that
 * frees.  The worker counts as busy with a command until it pops again. */
struct command *queue_pop(struct queue *q, struct command *used);

/* No more pushes; what is in it can still be popped. */
void queue_close(struct queue *q);

/* Closes the queue and takes out everything that waits, for a stop that does
 * not wait for the worker; *busy becomes the arrival number of the command that
 * the worker is busy with, 0 for none.  All in one step: each command that was
 * pushed is in the result, is the busy one, or is handled. */
struct chain queue_abandon(struct queue *q, uint64_t *busy);

const char *queue_name(const struct queue *q);

#endif
