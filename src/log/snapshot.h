/* SPDX-License-Identifier: MIT */
/* snapshot.h - the file command.N.snapshot: a session's state behind the last
 * input of the sealed segment N of its log; and the thread that writes such
 * files and retires segments that are not needed any more, so that a slow disk
 * does not hold up the loop.  PROTOCOL.md, "Snapshots".
 *
 * A snapshot's parts are bytes here; the sides pack and read them.  A
 * snapshot is one thread's at a time; all calls of a snapshotter come from
 * one thread. */
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
    bool has[SNAPSHOT_PARTS]; /* by side; false: that side has to be replayed */
    struct buf parts[SNAPSHOT_PARTS];
};

void snapshot_init(struct snapshot *s);
void snapshot_fini(struct snapshot *s);

/* A checksum that tells logs apart, over the payload of their head record. */
uint32_t snapshot_head(const char *payload, size_t len);

/* Whether the snapshot has all parts. */
bool snapshot_is_whole(const struct snapshot *s);

/* How long the snapshot's file is. */
uint64_t snapshot_size(const struct snapshot *s);

/* Writes FOLDER/command.N.snapshot, mode 0600: under another name, synced, then
 * renamed, so that it is there whole or not at all.  -1: it is not. */
int snapshot_write(const struct snapshot *s, const char *folder,
                   const struct logio *io, struct err *err);

/* The segments behind which the folder has a snapshot, ascending; *out is to be
 * freed, also when *n is 0. */
int snapshot_list(const char *folder, uint64_t **out, size_t *n,
                  struct err *err);

/* Fills *s, which was initialised.  -1: there is no such snapshot, or err
 * (ERR_LOG) tells what is wrong with it. */
int snapshot_read(struct snapshot *s, const char *folder, uint64_t segment,
                  struct err *err);

/* ---- the thread ---- */

struct snapshotter_setup {
    const char *folder;
    const struct logio *io; /* NULL: the system's */
    enum old_segments policy;
    const struct wake *wake; /* signalled when a job is done */
};

/* Starts the thread; all of *setup is borrowed. */
struct snapshotter *snapshotter_start(const struct snapshotter_setup *setup,
                                      struct err *err);
/* Ends the thread, after the job that it is at. */
void snapshotter_stop(struct snapshotter *s);

/* Has the thread write a snapshot, whose content is taken; no job is under way.
 * One without a part of either side is not written; nor is one that lacks a
 * side when segments were dropped, for it would take the place of one that
 * stands for them. */
void snapshotter_give(struct snapshotter *s, struct snapshot *snapshot);

/* What became of a job. */
struct snapshotter_news {
    uint64_t size;       /* of the snapshot's file; 0: none was written */
    bool written_failed; /* err tells why */
    bool retire_failed;  /* retire_err tells why */
    struct err err, retire_err;
    char retired[SEGMENTS_SAID_MAX]; /* in words, what was done to old segments;
                                        "": nothing */
};
/* True, once, when the job is done. */
bool snapshotter_take(struct snapshotter *s, struct snapshotter_news *out);

#endif
