/* SPDX-License-Identifier: MIT */
/* exchange.h - frames to and from the dispatcher over two descriptors that do
 * not block.  What is sent waits in memory until exchange_flush() finds room.
 * One thread. */
#ifndef MANAGER_EXCHANGE_H
#define MANAGER_EXCHANGE_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

struct exchange {
    int to, from; /* owned; -1: closed */
    struct frame_decoder in;
    struct buf out;
    size_t out_at; /* of `out`, that much is written */
};

typedef void exchange_frame(void *ctx, const struct frame *frame);

void exchange_open(struct exchange *x, int to, int from);
void exchange_close(struct exchange *x);

/* Appends a frame; without effect once `to` is closed. */
void exchange_send(struct exchange *x, const char code[2], const char *payload,
                   size_t len);
size_t exchange_pending(const struct exchange *x); /* bytes */

/* Writes what goes.  -1: the other side is gone, or memory is; `to` is then
 * closed. */
int exchange_flush(struct exchange *x, struct err *err);

/* Nothing more will be sent. */
void exchange_close_to(struct exchange *x);

/* Reads what is there and hands out the frames.  1: nothing more now; 0: end
 * of file; -1: broken, err says how. */
int exchange_read(struct exchange *x, exchange_frame *take, void *ctx,
                  struct err *err);

#endif
