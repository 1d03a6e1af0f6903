/* SPDX-License-Identifier: MIT */
/* outbox.h - FIFO in memory of what is to be said, filled by the workers (any
 * thread), emptied by the thread that writes.  Never blocks, never refuses. */
#ifndef DISPATCHER_OUTBOX_H
#define DISPATCHER_OUTBOX_H

#include "dispatcher/emission.h"

#include <stdbool.h>

struct err;
struct wake;

struct outbox;

/* `wake` is signalled when the outbox stops being empty. */
struct outbox *outbox_new(const struct wake *wake, struct err *err);
void outbox_free(struct outbox *o);

/* Copies e.  Out of memory loses it and is remembered. */
void outbox_add(struct outbox *o, const struct emission *e);
/* An emitter that adds here. */
struct emitter outbox_emitter(struct outbox *o);

/* Takes everything, oldest first, linked by ->next, each to be freed. */
struct emission *outbox_take_all(struct outbox *o);

/* Bytes waiting. */
size_t outbox_bytes(const struct outbox *o);

/* Whether a frame was lost. */
bool outbox_failed(const struct outbox *o);

#endif
