/* SPDX-License-Identifier: MIT */
/* remaining.h - walks over all points of a search space, round and round.
 *
 * An odometer whose last active dimension is the fastest, as in NNI's grid
 * search: choices and integers by index, q kinds by multiple of q, of a q
 * normal those within four sigma.  A dimension of continuous values has one
 * step with a new value each time, so a point that has one is never met
 * again. */
#ifndef FILTERS_DEDUP_REMAINING_H
#define FILTERS_DEDUP_REMAINING_H

#include "tunepipe/plugin.h"

#include <stdbool.h>

struct remaining_dim {
    uint64_t digit, n; /* 0..n-1 */
    double first;      /* q kinds: the multiple of digit 0 */
    bool active;       /* at the point given last */
};

struct remaining {
    const struct tp_space *space; /* borrowed */
    struct remaining_dim *dims;
    bool begun;
};

/* Whether a trial's value of this dimension is never met twice. */
bool remaining_is_continuous(const struct tp_dim *d);

/* -1: out of memory.  r is zeroed, or finished. */
int remaining_init(struct remaining *r, const struct tp_space *space);
void remaining_fini(struct remaining *r);

/* Steps on and writes the point into x.  True when this is the first one, at
 * the start or after the last.  New continuous values are drawn for `id`,
 * others with each `draw`. */
bool remaining_next(struct remaining *r, const struct tp_host *host,
                    uint64_t id, uint32_t draw, double *x);

/* Whether a continuous value was drawn for the point given last. */
bool remaining_has_drawn(const struct remaining *r);

/* Where it has come to.  Load: after remaining_init(); why it failed, or
 * NULL. */
void remaining_save(const struct remaining *r, const struct tp_sink *sink);
const char *remaining_load(struct remaining *r, const struct tp_source *source);

#endif
