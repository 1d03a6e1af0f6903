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

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct log;
struct trial;
struct trial_end;
struct trials;
struct unpack;

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
/* A trial has ended.  Where each suggestion was named by an end and nothing
 * runs: how many suggestions have no end of their own, which are *unrun in the
 * order of their ids, an array to be freed.  -1: out of memory. */
int64_t launches_seek(struct launches *l, struct trials *trials,
                      const struct trial_end *end, struct trial ***unrun);

/* That suggestion is lost.  -1: out of memory. */
int launches_lose(struct launches *l, uint64_t id);
/* One line that says how many were lost since there were `before`. */
void launches_tell(const struct launches *l, uint64_t before,
                   const struct log *log, uint64_t arrival);
/* Takes out the oldest lost suggestion whose trial has not ended meanwhile;
 * NULL: there is none. */
struct trial *launches_next_lost(struct launches *l, struct trials *trials);

/* As pack.h: into an empty one, -1: damaged, or out of memory. */
void launches_save(const struct launches *l, struct buf *out);
int launches_load(struct launches *l, struct unpack *in);

#endif
