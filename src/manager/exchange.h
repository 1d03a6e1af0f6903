/* SPDX-License-Identifier: MIT */
/* exchange.h - frames to and from the dispatcher over two descriptors that do
 * not block.  What is sent waits in memory until exchange_flush() finds room,
 * and stays there until the dispatcher has surely read and logged it: the pipe
 * may still hold it, and a dispatcher that dies loses what it read last.  So
 * when another dispatcher goes on from the log, all frames that the log lacks
 * can be sent again, byte for byte.  One thread.
 *
 * While it is held, between two dispatchers, nothing is written, because it is
 * not known yet with which frame to go on. */
#ifndef MANAGER_EXCHANGE_H
#define MANAGER_EXCHANGE_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange {
    int to, from; /* owned; -1: closed */
    struct frame_decoder in;
    struct buf out; /* the frames that were sent and are kept, or not written */
    size_t front;   /* how much of `out` is kept no more */
    size_t out_at;  /* how much of `out` is written */
    size_t largest; /* bytes of the largest frame ever sent */
    size_t pipe;    /* bytes that `to` can hold */
    uint64_t base;  /* the number of the last frame before `front`, as the
                       dispatcher counts */
    uint64_t last;  /* the number of the last frame in `out` */
    uint64_t sent;  /* frames that were sent, whatever their numbers */
    uint64_t planned; /* trials that the last PL told of; 0: no limit */
    bool based;       /* base and last are known */
    bool held;        /* nothing is written until exchange_resume() */
    bool over;        /* nothing more will be sent */
};

typedef void exchange_frame(void *ctx, const struct frame *frame);

/* Closed, with nothing sent. */
void exchange_init(struct exchange *x);
/* Takes the descriptors of a dispatcher; frames that were sent before will be
 * written to it. */
void exchange_open(struct exchange *x, int to, int from);
void exchange_close(struct exchange *x);

/* The dispatcher has died: closes both descriptors and forgets what was read of
 * an unfinished frame; what was sent is held until exchange_resume(). */
void exchange_hold(struct exchange *x);

/* The new dispatcher's log ends with frame `last`: all later ones are sent to
 * it, again or for the first time, and shown to `take` (may be NULL).  -1: the
 * log cannot end there. */
int exchange_resume(struct exchange *x, uint64_t last, exchange_frame *take,
                    void *ctx, struct err *err);

/* The frames sent so far, and those to come, are numbered from last + 1 on. */
void exchange_base(struct exchange *x, uint64_t last);

/* Appends a frame; without effect once it is over. */
void exchange_send(struct exchange *x, const char code[2], const char *payload,
                   size_t len);
/* Tells how many trials there are to be, 0: no limit, where it has changed. */
void exchange_plan(struct exchange *x, uint64_t trials);
size_t exchange_pending(const struct exchange *x); /* bytes not written */
/* How many of the frames that were sent, as x->sent counts them, the dispatcher
 * has surely read and logged, be it not on stable storage. */
uint64_t exchange_logged(const struct exchange *x);

/* Writes as much as there is room for.  -1: the dispatcher is gone, or there
 * was no memory; `to` is then closed and what was sent waits. */
int exchange_flush(struct exchange *x, struct err *err);

/* Ends the dispatcher's input: nothing more will be sent, unless it is resumed.
 */
void exchange_close_to(struct exchange *x);

/* Reads what is there and hands out the frames.  1: nothing more now; 0: end
 * of file; -1: broken, err says how. */
int exchange_read(struct exchange *x, exchange_frame *take, void *ctx,
                  struct err *err);

#endif
