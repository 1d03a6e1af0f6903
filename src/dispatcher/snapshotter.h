/* SPDX-License-Identifier: MIT */
/* snapshotter.h - a thread that writes snapshots and retires the segments that
 * are not needed any more, so that a slow disk does not hold up the loop.
 *
 * One job at a time.  All calls are the reader's thread's. */
#ifndef DISPATCHER_SNAPSHOTTER_H
#define DISPATCHER_SNAPSHOTTER_H

#include "core/err.h"
#include "dispatcher/segments.h"

#include <stdbool.h>
#include <stdint.h>

struct logio;
struct snapshot;
struct snapshotter;
struct wake;

struct snapshotter_setup {
    const char *folder;
    const struct logio *io; /* NULL: the system's */
    enum old_segments policy;
    const struct wake *wake; /* signalled when a job is done */
};

/* All of it is borrowed. */
struct snapshotter *snapshotter_start(const struct snapshotter_setup *setup,
                                      struct err *err);
/* Waits for a job that is under way. */
void snapshotter_stop(struct snapshotter *s);

/* Takes the content of *snapshot (one without a part of either side is not
 * written; nor is one that lacks a side when segments were dropped, for it
 * would take the place of one that stands for them).  No job is under way. */
void snapshotter_give(struct snapshotter *s, struct snapshot *snapshot);

/* What became of it. */
struct snapshotter_news {
    uint64_t size;       /* of the snapshot's file; 0: none was written */
    bool written_failed; /* why: err */
    bool retire_failed;  /* why: retire_err */
    struct err err, retire_err;
    char retired[SEGMENTS_SAID_MAX]; /* what became of old segments; "":
                                        nothing */
};
/* Once, when it is done. */
bool snapshotter_take(struct snapshotter *s, struct snapshotter_news *out);

#endif
