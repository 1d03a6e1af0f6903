/* SPDX-License-Identifier: MIT */
/* pending.h - frames that replay has derived and the log has not shown yet, a
 * list for each cause and sender.  One thread. */
#ifndef REPLAY_PENDING_H
#define REPLAY_PENDING_H

#include "core/map.h"
#include "dispatcher/emission.h"

struct pending {
    struct map lists; /* cause and sender -> struct pending_list */
    uint64_t frames;
    bool failed; /* out of memory */
};

/* A zeroed struct pending is empty. */
void pending_fini(struct pending *p);

/* Copies e to the end of its list. */
void pending_add(struct pending *p, const struct emission *e);

/* Takes the oldest frame of that cause and sender, to be freed; NULL: there is
 * none. */
struct emission *pending_take(struct pending *p, uint64_t cause,
                              enum sender sender);

/* The oldest frame of that cause and sender, borrowed; NULL: there is none. */
const struct emission *pending_peek(const struct pending *p, uint64_t cause,
                                    enum sender sender);

/* Walks over the lists: the first frame of the next list; start with *at = 0,
 * NULL at the end. */
const struct emission *pending_next(const struct pending *p, size_t *at);

/* All frames, each list in its order; lists by cause, the tuner's first.  An
 * array of p->frames, to be freed; NULL: out of memory. */
const struct emission **pending_all(const struct pending *p);

/* The frame with the lowest cause, borrowed; NULL: there is none. */
const struct emission *pending_first(const struct pending *p);

#endif
