/* SPDX-License-Identifier: MIT */
/* gauge.h - how many bytes wait in the two queues.  The reader adds and, when
 * it is too much, stops reading; the workers subtract and wake it when there is
 * room again.  Any thread. */
#ifndef DISPATCHER_GAUGE_H
#define DISPATCHER_GAUGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wake;

struct gauge {
    atomic_size_t bytes;
    atomic_bool held;        /* the reader has stopped reading */
    size_t most;             /* bytes: --max-queued */
    const struct wake *wake; /* wakes the reader */
};

void gauge_init(struct gauge *g, size_t most, const struct wake *wake);
void gauge_add(struct gauge *g, size_t bytes);
void gauge_subtract(struct gauge *g, size_t bytes);

/* Whether the reader has to stop reading, with `more` bytes waiting elsewhere;
 * once it has stopped it goes on at half of the limit.  The reader's alone. */
bool gauge_holds(struct gauge *g, size_t more);

#endif
