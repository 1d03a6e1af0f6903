/* SPDX-License-Identifier: MIT */
/* exchange.h - frames to and from the dispatcher over two descriptors that do
 * not block.  What is sent waits in memory until exchange_flush() finds room,
 * and stays there until the dispatcher has surely read and logged it: the pipe
 * may hold so much, and one that dies takes with it what it read last.  So
 * when another one goes on from the log all behind what that holds can be sent
 * again, byte for byte.  One thread.
 *
 * Held: nothing is written, because nobody knows yet where to go on. */
#ifndef MANAGER_EXCHANGE_H
#define MANAGER_EXCHANGE_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange {
    int to, from; /* owned; -1: closed */
    struct frame_decoder in;
    struct buf out; /* the frames sent: those kept, those not written */
    size_t front;   /* of `out`, that much is kept no more */
    size_t out_at;  /* of `out`, that much is written */
    size_t largest; /* bytes of the largest frame ever sent */
    size_t pipe;    /* bytes that `to` can hold */
    uint64_t base;  /* frames before `front`, in the dispatcher's count */
    uint64_t last;  /* the number of the last one in `out` */
    bool based;     /* base and last are known */
    bool held;
    bool over; /* nothing more will be sent */
};

typedef void exchange_frame(void *ctx, const struct frame *frame);

/* Closed, with nothing sent. */
void exchange_init(struct exchange *x);
/* What was sent before stays to be written. */
void exchange_open(struct exchange *x, int to, int from);
void exchange_close(struct exchange *x);

/* Both descriptors are closed, what was read of an unfinished frame is
 * forgotten; what was sent stays, held until exchange_resume(). */
void exchange_hold(struct exchange *x);

/* The dispatcher has `last` frames: all behind them goes out, again or for the
 * first time, and is shown to `take` (may be NULL).  -1: that cannot be. */
int exchange_resume(struct exchange *x, uint64_t last, exchange_frame *take,
                    void *ctx, struct err *err);

/* Nobody has counted before: the next frame is number last + 1. */
void exchange_base(struct exchange *x, uint64_t last);

/* Appends a frame; without effect once it is over. */
void exchange_send(struct exchange *x, const char code[2], const char *payload,
                   size_t len);
size_t exchange_pending(const struct exchange *x); /* bytes not written */

/* Writes what goes.  -1: the other side is gone, or memory is; `to` is then
 * closed and what was sent waits. */
int exchange_flush(struct exchange *x, struct err *err);

/* Nothing more will be sent, unless it is resumed. */
void exchange_close_to(struct exchange *x);

/* Reads what is there and hands out the frames.  1: nothing more now; 0: end
 * of file; -1: broken, err says how. */
int exchange_read(struct exchange *x, exchange_frame *take, void *ctx,
                  struct err *err);

#endif
