/* SPDX-License-Identifier: MIT */
/* dialect.h - messages of NNI's two WebSocket generations <-> frames.
 *
 *   NNI 2.8 to 2.10   GE2
 *   NNI 3.0           {"type":"GE","content":"2"}
 *
 * The manager's first message tells which one it speaks.  Pure: knows neither
 * sockets nor times.  One thread. */
#ifndef BRIDGE_DIALECT_H
#define BRIDGE_DIALECT_H

#include <stddef.h>

struct buf;
struct err;

enum dialect {
    DIALECT_UNKNOWN, /* nothing has come yet */
    DIALECT_PLAIN,   /* code and payload: 2.8 to 2.10 */
    DIALECT_JSON,    /* an object with type and content: 3.0 */
};

/* What a message of the manager's is. */
enum message {
    MESSAGE_FRAME,     /* a command, for the dispatcher */
    MESSAGE_TERMINATE, /* TE, for the dispatcher too */
    MESSAGE_NOTHING,   /* _nop_ */
    MESSAGE_BYE,       /* _bye_: the manager is about to close */
    MESSAGE_STRANGE,   /* something else, which err describes */
};

/* Reads one message.  *d is set by the first message of either dialect.  The
 * frame that a FRAME or a TERMINATE makes is appended to `frames`; when that is
 * not possible `frames` is marked as failed. */
enum message dialect_read(enum dialect *d, const char *text, size_t len,
                          struct buf *frames, struct err *err);

/* Appends the message that stands for a command; d is not UNKNOWN. */
void dialect_write(enum dialect d, struct buf *out, const char code[2],
                   const char *payload, size_t len);

/* The dialect for people: "NNI 3.0", "NNI 2.8 to 2.10". */
const char *dialect_name(enum dialect d);

#endif
