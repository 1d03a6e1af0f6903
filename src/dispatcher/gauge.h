/* SPDX-License-Identifier: MIT */
/* gauge.h - how many bytes wait in the queues.  The reader adds and, when it
 * is too much, stops reading; the workers subtract and wake it when there is
 * room again.  Any thread. */
#ifndef DISPATCHER_GAUGE_H
#define DISPATCHER_GAUGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wake;

struct gauge {
    atomic_size_t bytes;
    atomic_bool held;        /* the reader waits for room */
    size_t most;             /* --max-queued */
    const struct wake *wake; /* the reader's */
};

void gauge_init(struct gauge *g, size_t most, const struct wake *wake);
void gauge_add(struct gauge *g, size_t bytes);
void gauge_subtract(struct gauge *g, size_t bytes);

/* Whether the reader has to hold, counting `more` bytes beside the queues';
 * once it holds it goes on at half of the limit.  The reader's. */
bool gauge_holds(struct gauge *g, size_t more);

#endif
