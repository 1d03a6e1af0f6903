/* SPDX-License-Identifier: MIT */
/* whatif_state.h - what whatif.c and whatif_walk.c share.  Internal to
 * them. */
#ifndef REPLAY_WHATIF_STATE_H
#define REPLAY_WHATIF_STATE_H

#include "core/buf.h"
#include "core/log.h"
#include "core/map.h"
#include "dispatcher/policy.h"
#include "log/record.h"
#include "replay/whatif.h"

struct whatif_walk {
    const struct whatif_setup *setup;
    struct whatif *out;
    struct log_reader *file;
    struct json *head;
    struct log silent; /* the router said all of it when it was recorded */
    struct policy policy;
    struct router *router;
    struct assessor *assessor;
    struct side *assessing;
    struct series_map *seen;
    struct map jobs;      /* trial_job_id -> its number + 1, as a pointer */
    struct map given_out; /* parameter_id as JSON -> arrival, as a pointer */
    struct map kills;     /* arrival of a KI's cause -> the walk */
    bool kills_now;       /* the command in hand made it say stop */
    int64_t time_us;      /* of the record in hand */
    struct buf text;      /* the same: a name in its frame */
    bool failed;          /* out of memory */
};

/* The manager's frame, and the dispatcher's. */
int whatif_in(struct whatif_walk *w, const struct record *r, struct err *err);
int whatif_out(struct whatif_walk *w, const struct record *r, struct err *err);

#endif
