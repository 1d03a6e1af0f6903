/* SPDX-License-Identifier: MIT */
/* recent.h - the last few values that a trial reported, for people to see where
 * it goes.  One thread. */
#ifndef MANAGER_RECENT_H
#define MANAGER_RECENT_H

#include <stdint.h>

#define RECENT_MAX 16

/* A zeroed one is empty. */
struct recent {
    float values[RECENT_MAX];
    uint64_t n; /* ever added */
};

static inline void
recent_add(struct recent *r, double value)
{
    r->values[r->n++ % RECENT_MAX] = (float)value;
}

static inline unsigned
recent_count(const struct recent *r)
{
    return r->n < RECENT_MAX ? (unsigned)r->n : RECENT_MAX;
}

/* i < recent_count(), 0 the oldest. */
static inline double
recent_at(const struct recent *r, unsigned i)
{
    return (double)r->values[(r->n - recent_count(r) + i) % RECENT_MAX];
}

#endif
