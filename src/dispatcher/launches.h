/* SPDX-License-Identifier: MIT */
/* launches.h - which suggestions a manager of NNI's has yet to launch or to see
 * end, and which of those it had it has lost.
 *
 * NNI 3.0 gives a trial that asks for its parameters the oldest ones that
 * nobody has taken, whatever it was launched for.  Behind a trial that dies
 * before it asks, each gets those of the one before, and the last suggestion
 * has nobody to run it until one more trial is launched.  The id in EN says
 * what the trial was launched for: when each suggestion was named by an end,
 * nothing runs, and one without an end of its own is lost.
 *
 * The default worker's alone. */
#ifndef DISPATCHER_LAUNCHES_H
#define DISPATCHER_LAUNCHES_H

#include "core/idset.h"
#include "core/map.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

struct buf;
struct parameter_id;
struct unpack;

/* A line, of the arrival number and of how many. */
#define LAUNCHES_LOST                                                        \
    "command %" PRIu64 " (EN): as many trials have ended as were launched, " \
    "and %" PRIu64 " suggestions were run by none: they are given out again"

/* A zeroed one is empty. */
struct launches {
    struct map numbers, labels; /* of suggestions that no end has named */
    struct idset lost;          /* to be given out again */
    uint64_t n_lost;
};

void launches_fini(struct launches *l);

/* That suggestion was given out; label: NULL where it has none.  -1: out of
 * memory. */
int launches_give(struct launches *l, uint64_t id, const char *label);
/* A trial that was launched for that one has ended. */
void launches_end(struct launches *l, const struct parameter_id *hint);
/* Whether all that were given out have. */
bool launches_are_over(const struct launches *l);

/* That one is lost.  -1: out of memory. */
int launches_lose(struct launches *l, uint64_t id);
/* The oldest one that is; n_lost > 0. */
uint64_t launches_next_lost(struct launches *l);

/* As pack.h: into an empty one, -1: damaged, or out of memory. */
void launches_save(const struct launches *l, struct buf *out);
int launches_load(struct launches *l, struct unpack *in);

#endif
