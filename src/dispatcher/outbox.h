/* SPDX-License-Identifier: MIT */
/* outbox.h - FIFO in memory of emissions, filled by the workers (any thread),
 * emptied by the thread that logs and writes.  Never blocks, never refuses. */
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

/* Adds a copy of e.  Out of memory loses it, which outbox_failed() then
 * tells. */
void outbox_add(struct outbox *o, const struct emission *e);
/* An emitter that adds to this outbox. */
struct emitter outbox_emitter(struct outbox *o);

/* Takes everything, oldest first, linked by ->next, each to be freed. */
struct emission *outbox_take_all(struct outbox *o);

/* Bytes of the payloads that wait in it. */
size_t outbox_bytes(const struct outbox *o);

/* Whether an emission was lost. */
bool outbox_failed(const struct outbox *o);

#endif
