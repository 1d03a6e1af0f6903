/* SPDX-License-Identifier: MIT */
#include "dispatcher/queue.h"

#include "command.h"
#include "core/err.h"

#include <pthread.h>
#include <stdlib.h>

/* Limits of what waits for the next push to be freed; a larger command, or one
 * more, the worker frees itself. */
#define USED_MAX 1024      /* commands */
#define USED_COST_MAX 1024 /* bytes each */

struct queue {
    const char *name;
    pthread_mutex_t lock;
    pthread_cond_t readable; /* there is a command, or it was closed */
    /* guarded by lock: */
    struct chain waiting;
    struct chain used; /* handled commands, to be freed by the next push */
    bool closed;
    uint64_t busy; /* arrival number of the command popped last */
};

struct queue *
queue_new(const char *name, struct err *err)
{
    struct queue *q = calloc(1, sizeof *q);

    if (q == NULL) {
        err_set(err, ERR_MEMORY, "%s queue: out of memory", name);
        return NULL;
    }
    q->name = name;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->readable, NULL);
    return q;
}

void
queue_free(struct queue *q)
{
    if (q == NULL)
        return;
    chain_clear(&q->waiting);
    chain_clear(&q->used);
    pthread_cond_destroy(&q->readable);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

void
chain_add(struct chain *c, struct command *cmd)
{
    cmd->next = NULL;
    if (c->first == NULL)
        c->first = cmd;
    else
        c->last->next = cmd;
    c->last = cmd;
    c->count++;
}

struct command *
chain_take(struct chain *c)
{
    struct command *cmd = c->first;

    if (cmd == NULL)
        return NULL;
    c->first = cmd->next;
    c->count--;
    cmd->next = NULL;
    return cmd;
}

void
chain_clear(struct chain *c)
{
    struct command *cmd;

    while ((cmd = chain_take(c)) != NULL)
        command_free(cmd);
}

bool
queue_push(struct queue *q, struct chain *c, size_t *length)
{
    struct chain used;
    bool open, readable;

    pthread_mutex_lock(&q->lock);
    used = q->used;
    q->used = (struct chain){0};
    open = !q->closed;
    readable = open && c->first != NULL;
    if (readable) {
        if (q->waiting.first == NULL)
            q->waiting.first = c->first;
        else
            q->waiting.last->next = c->first;
        q->waiting.last = c->last;
        q->waiting.count += c->count;
    }
    *length = q->waiting.count;
    pthread_mutex_unlock(&q->lock);
    if (readable)
        pthread_cond_signal(&q->readable); /* who wakes finds it unlocked */
    chain_clear(&used);
    if (!open)
        chain_clear(c);
    *c = (struct chain){0};
    return open;
}

/* Takes a handled command, to be freed later.  Lock held. */
static void
keep_used(struct queue *q, struct command *used)
{
    if (q->used.count < USED_MAX)
        chain_add(&q->used, used);
    else
        command_free(used);
}

struct command *
queue_pop(struct queue *q, struct command *used)
{
    struct command *cmd;

    if (used != NULL && used->cost > USED_COST_MAX) {
        command_free(used);
        used = NULL;
    }
    pthread_mutex_lock(&q->lock);
    if (used != NULL)
        keep_used(q, used);
    q->busy = 0;
    while (q->waiting.first == NULL && !q->closed)
        pthread_cond_wait(&q->readable, &q->lock);
    cmd = chain_take(&q->waiting);
    if (cmd != NULL)
        q->busy = cmd->arrival;
    pthread_mutex_unlock(&q->lock);
    return cmd;
}

void
queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->readable);
    pthread_mutex_unlock(&q->lock);
}

struct chain
queue_abandon(struct queue *q, uint64_t *busy)
{
    struct chain c;

    pthread_mutex_lock(&q->lock);
    c = q->waiting;
    q->waiting = (struct chain){0};
    q->closed = true;
    *busy = q->busy;
    pthread_cond_broadcast(&q->readable);
    pthread_mutex_unlock(&q->lock);
    return c;
}

const char *
queue_name(const struct queue *q)
{
    return q->name;
}
