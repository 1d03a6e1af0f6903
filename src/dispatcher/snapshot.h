/* SPDX-License-Identifier: MIT */
/* snapshot.h - the file command.N.snapshot: a session as it stood behind the
 * last input of the sealed segment N of its log.  PROTOCOL.md, "Snapshots".
 *
 * It knows its parts as bytes alone: session.h packs them.  One thread at a
 * time. */
#ifndef DISPATCHER_SNAPSHOT_H
#define DISPATCHER_SNAPSHOT_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_PARTS 3 /* by enum sender */
#define SNAPSHOT_PART_MAX ((size_t)1 << 30)

struct err;
struct logio;

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

/* Bytes of the file. */
uint64_t snapshot_size(const struct snapshot *s);

/* Writes DIR/command.N.snapshot, mode 0600: under another name, synced, then
 * renamed, so that it is there whole or not at all.  -1: it is not. */
int snapshot_write(const struct snapshot *s, const char *folder,
                   const struct logio *io, struct err *err);

/* Fills *s, which was initialised.  -1: there is none, or err (ERR_LOG) tells
 * what is wrong with it. */
int snapshot_read(struct snapshot *s, const char *folder, uint64_t segment,
                  struct err *err);

#endif
