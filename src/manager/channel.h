/* SPDX-License-Identifier: MIT */
/* channel.h - frames to and from the dispatcher over two descriptors that do
 * not block.  What is sent waits in memory until channel_flush() finds room.
 * One thread. */
#ifndef MANAGER_CHANNEL_H
#define MANAGER_CHANNEL_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

struct channel {
    int to, from; /* owned; -1: closed */
    struct frame_decoder in;
    struct buf out;
    size_t out_at; /* of `out`, that much is written */
};

typedef void channel_frame(void *ctx, const struct frame *frame);

void channel_open(struct channel *c, int to, int from);
void channel_close(struct channel *c);

/* Appends a frame; without effect once `to` is closed. */
void channel_send(struct channel *c, const char code[2], const char *payload,
                  size_t len);
size_t channel_pending(const struct channel *c); /* bytes */

/* Writes what goes.  -1: the other side is gone, or memory is; `to` is then
 * closed. */
int channel_flush(struct channel *c, struct err *err);

/* Reads what is there and hands out the frames.  1: nothing more now; 0: end
 * of file; -1: broken, err says how. */
int channel_read(struct channel *c, channel_frame *take, void *ctx,
                 struct err *err);

#endif
