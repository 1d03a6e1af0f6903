/* SPDX-License-Identifier: MIT */
#include "dispatcher/gauge.h"

#include "core/wake.h"

void
gauge_init(struct gauge *g, size_t most, const struct wake *wake)
{
    atomic_init(&g->bytes, 0);
    atomic_init(&g->held, false);
    g->most = most;
    g->wake = wake;
}

void
gauge_add(struct gauge *g, size_t bytes)
{
    atomic_fetch_add(&g->bytes, bytes);
}

void
gauge_subtract(struct gauge *g, size_t bytes)
{
    size_t before = atomic_fetch_sub(&g->bytes, bytes);

    if (atomic_load(&g->held) && before - bytes <= g->most / 2)
        wake_signal(g->wake);
}

bool
gauge_holds(struct gauge *g, size_t more)
{
    bool held = atomic_load(&g->held);
    size_t limit = held ? g->most / 2 : g->most;

    /* `held` is set before the bytes are looked at, so that a worker that
     * empties its queue in between wakes the reader. */
    atomic_store(&g->held, true);
    if (atomic_load(&g->bytes) + more > limit)
        return true;
    atomic_store(&g->held, false);
    return false;
}
