/* SPDX-License-Identifier: MIT */
/* fork_state.h - what fork.c, which copies, and fork_head.c, which changes,
 * share.  Internal to them. */
#ifndef REPLAY_FORK_STATE_H
#define REPLAY_FORK_STATE_H

#include "core/buf.h"
#include "core/map.h"
#include "log/record.h"
#include "replay/fork.h"

struct held;

struct fork {
    const struct fork_setup *setup;
    struct fork_report *report;
    struct log_reader *file; /* the old log */
    char *path;              /* of the new one ... */
    int fd;                  /* ... -1: not made yet */
    struct buf out, head;
    struct held *held, *held_last;
    struct map acknowledged; /* arrivals whose AK had been sent */
    uint64_t last;           /* input that was kept */
    int64_t time_us;         /* of the last record that was kept */
    bool changed;            /* the head is another one */
    bool judged_anew;        /* by another assessor, or none */
    bool full;               /* the first input behind the last was seen */
    bool made_folder;
    bool failed; /* out of memory */
};

#define FORK_CHUNK ((size_t)1 << 20) /* bytes written at once */

/* Appends `r` as a record of that kind. */
int fork_write(struct fork *f, enum record_kind kind, const struct record *r,
               struct err *err);
int fork_flush(struct fork *f, struct err *err);

/* Makes f->head from the old log's first record. */
int fork_head(struct fork *f, const struct record *old, struct err *err);

/* Appends what the new assessor says of what has been copied, but for what is
 * still to be sent. */
int fork_judged(struct fork *f, struct err *err);

#endif
