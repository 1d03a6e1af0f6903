/* SPDX-License-Identifier: MIT */
/* snapshot.h - the file command.N.snapshot: a session as it stood behind the
 * last input of the sealed segment N of its log; and the thread that writes
 * such files and retires the segments that are not needed any more, so that a
 * slow disk does not hold up the loop.  PROTOCOL.md, "Snapshots".
 *
 * The parts are bytes alone here: who gives them packs them.  A snapshot is
 * one thread's at a time; all calls of a snapshotter come from one thread. */
#ifndef LOG_SNAPSHOT_H
#define LOG_SNAPSHOT_H

#include "core/buf.h"
#include "core/err.h"
#include "log/segments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_PART_MAX ((size_t)1 << 30)

struct logio;
struct snapshotter;
struct wake;

enum { SNAPSHOT_TUNER, SNAPSHOT_ASSESSOR, SNAPSHOT_ROUTER, SNAPSHOT_PARTS };

struct snapshot {
    uint64_t segment;
    uint64_t arrival;         /* of the last input in it */
    uint32_t head;            /* snapshot_head() of the log it belongs to */
    bool has[SNAPSHOT_PARTS]; /* false: that side has to be replayed */
    struct buf parts[SNAPSHOT_PARTS];
};

void snapshot_init(struct snapshot *s);
void snapshot_fini(struct snapshot *s);

/* Tells logs apart by their head record's payload. */
uint32_t snapshot_head(const char *payload, size_t len);

/* Whether it has all parts. */
bool snapshot_is_whole(const struct snapshot *s);

/* Bytes of the file. */
uint64_t snapshot_size(const struct snapshot *s);

/* Writes DIR/command.N.snapshot, mode 0600: under another name, synced, then
 * renamed, so that it is there whole or not at all.  -1: it is not. */
int snapshot_write(const struct snapshot *s, const char *folder,
                   const struct logio *io, struct err *err);

/* The segments behind which the folder has one, ascending; *out is to be
 * freed, also when *n is 0. */
int snapshot_list(const char *folder, uint64_t **out, size_t *n,
                  struct err *err);

/* Fills *s, which was initialised.  -1: there is none, or err (ERR_LOG) tells
 * what is wrong with it. */
int snapshot_read(struct snapshot *s, const char *folder, uint64_t segment,
                  struct err *err);

/* ---- the thread ---- */

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
