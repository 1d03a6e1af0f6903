/* SPDX-License-Identifier: MIT */
/* channel.h - the two descriptors to the manager, on which no call ever blocks.
 *
 * They may be pipes, sockets, files or a terminal, and may be shared with other
 * processes, so O_NONBLOCK is never set on them: sockets are used with
 * MSG_DONTWAIT, the others after poll(2) says so, pipes with at most PIPE_BUF
 * bytes at a time, which then cannot block.  The reader's thread alone. */
#ifndef DISPATCHER_CHANNEL_H
#define DISPATCHER_CHANNEL_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct frame_decoder;

struct channel {
    int in, out;
    bool in_is_socket, out_is_socket;
    bool out_gone;   /* the manager reads no more; output is dropped */
    struct buf text; /* output that is not written yet, from `at` on */
    size_t at;
    int digits;  /* of the frames' headers in `text`; 0: it holds no frames */
    size_t left; /* bytes of the frame that is partly written */
};

/* Moves the descriptors to high close-on-exec ones, points 0 to /dev/null and
 * 1 to 2, so that nothing a plugin prints can reach the peer.  SIGPIPE is
 * ignored from here on. */
int channel_open(struct channel *c, int in_fd, int out_fd, struct err *err);
/* channel_open() for descriptors that are in place already: takes both. */
void channel_adopt(struct channel *c, int in_fd, int out_fd);
void channel_close(struct channel *c);

enum channel_status { CHANNEL_OK, CHANNEL_WAIT, CHANNEL_EOF, CHANNEL_ERROR };

/* Reads once into the decoder; to be called when poll(2) says readable. */
enum channel_status channel_read(struct channel *c, struct frame_decoder *d,
                                 struct err *err);
/* channel_read() of at most so many bytes. */
enum channel_status channel_read_some(struct channel *c,
                                      struct frame_decoder *d, size_t most,
                                      struct err *err);

/* Bytes of output that are not written yet. */
size_t channel_pending(const struct channel *c);

/* Writes what can be written without blocking.  CHANNEL_ERROR: the peer is
 * gone; err says so, once. */
enum channel_status channel_write(struct channel *c, struct err *err);

/* Drops the output that is not written, but for the rest of a frame whose
 * beginning is written: the manager is never left with half of one. */
void channel_drop(struct channel *c);

#endif
