/* SPDX-License-Identifier: MIT */
/* snapshotting.h - takes a snapshot of the session (log/snapshot.h) whenever a
 * segment of its log has been sealed.
 *
 *   main         seals segment N, packs the router, puts a marker into each
 * queue workers      at the marker: pack their side into the outbox main takes
 * the parts out of the outbox, behind every frame that was caused before them;
 * waits until the log is durable so far snapshotter  writes the file, retires
 * old segments
 *
 * So a snapshot is there only when the log has all frames on which its parts
 * depend.  A side that is a program, or whose plugin cannot be saved, has no
 * part: it is replayed.
 *
 * A stop gives up a snapshot that is not being written yet: everything in it
 * follows from the log.  The main thread's, but where it says otherwise. */
#ifndef DISPATCHER_SNAPSHOTTING_H
#define DISPATCHER_SNAPSHOTTING_H

#include "dispatcher/emission.h"
#include "log/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct log;
struct logwriter;
struct outbox;
struct queue;
struct session;
struct snapshotting;

/* All of it is borrowed. */
struct snapshotting_setup {
    const struct session *session;
    struct logwriter *commandlog;
    struct outbox *outbox;
    struct queue *queues[2]; /* of the workers, by sender */
    bool unsavable[2];       /* by sender: that side is not asked for a part */
    uint32_t head_sum;       /* snapshot_head() of the log */
    struct snapshotter_setup writer; /* started with the first snapshot */
    const struct log *log;
};

struct snapshotting *snapshotting_new(const struct snapshotting_setup *setup,
                                      struct err *err);
/* Waits for a snapshot that is being written. */
void snapshotting_free(struct snapshotting *s);

/* Whether a snapshot is being taken. */
bool snapshotting_is_busy(const struct snapshotting *s);
/* Begins a snapshot: a segment was sealed behind the input of that number.
 * Does nothing while another one is being taken. */
void snapshotting_begin(struct snapshotting *s, uint64_t arrival);
/* Takes the part of a side, which has come out of the outbox. */
void snapshotting_take_part(struct snapshotting *s, const struct emission *e);
/* Goes on with the snapshot that is being taken; stops: gives it up unless it
 * is being written. */
void snapshotting_tend(struct snapshotting *s, bool stops);

/* Any thread: whether that is not a command's arrival number, but that of a
 * marker, at which a worker saves its side.  The worker's slot in the lock file
 * then says that it saves. */
bool snapshotting_is_marker(uint64_t arrival);
/* On the side's worker, at the marker: saves the side. */
void snapshotting_save(const struct snapshotting *s, enum sender side);

#endif
