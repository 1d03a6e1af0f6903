/* SPDX-License-Identifier: MIT */
/* segments.h - the files of a command log, by name: the active command.log; the
 * sealed command.1.log, command.2.log, ... before it, which may be compressed
 * or gone; and the snapshots that stand for those that are gone.  PROTOCOL.md,
 * "Segments".  Any thread. */
#ifndef LOG_SEGMENTS_H
#define LOG_SEGMENTS_H

#include "core/log_policy.h"
#include "log/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct logio;

#define LOG_NAME "command.log"

enum segment_file {
    SEGMENT_PLAIN,    /* command.N.log */
    SEGMENT_GZ,       /* command.N.log.gz */
    SEGMENT_SNAPSHOT, /* command.N.snapshot */
};

/* The path of such a file in the folder, to be freed; NULL: out of memory. */
char *segments_path(const char *folder, uint64_t n, enum segment_file file);

/* The numbers of the files of that kind in the folder, ascending; *out is to be
 * freed, also when *n is 0. */
int segments_list(const char *folder, enum segment_file file, uint64_t **out,
                  size_t *n, struct err *err);

/* The path of a sealed segment or a snapshot in the folder, to be freed; NULL:
 * there is none, or it cannot be read. */
char *segments_any(const char *folder);

/* The first segment of the chain without a gap that ends with `active`, the
 * number of command.log; 0: err tells.  Whether it is plain or compressed is
 * for those to see who open it: that may change meanwhile.  A segment that is
 * missing is an error: in the middle, or before the first where no snapshot
 * stands for it. */
uint64_t segments_first(const char *folder, uint64_t active, struct err *err);

/* ---- how a segment begins ---- */

struct segment_head {
    struct record head; /* size 0: there is no whole head */
    uint64_t number;    /* of the segment; 1: it has no G record */
    uint64_t arrival;   /* the last arrival number before it */
    uint64_t frames;    /* of the manager's, before the segment */
    uint64_t bytes;     /* length of the segment before, when it was sealed */
    size_t begin;       /* offset of H */
    size_t size;        /* of version line, H and G */
    enum record_status end; /* what the bytes behind H are; PARTIAL when they
                               were too few to tell */
};

/* Reads the head from a segment's first bytes; -1: they are of no log. */
int segment_head_read(const char *bytes, size_t len, struct segment_head *out,
                      struct err *err);
#define SEGMENT_HEAD_MAX ((size_t)64 << 20) /* more than any H and G take */
/* Reads the head from a segment's file, no more of which goes into *bytes than
 * that takes; head.payload lies there.  1: done; 0: there is no such file; -1:
 * err names it. */
int segment_head_load(const char *path, enum segment_file file,
                      struct buf *bytes, struct segment_head *out,
                      struct err *err);
/* Appends the head of another segment: version line, H as it was, and G with
 * this time. */
void segment_head_write(const struct segment_head *h, int64_t time_us,
                        struct buf *out);

/* ---- what becomes of them ---- */

/* Moves all files of a log to another folder, command.log last: as long as that
 * is there the log belongs to the old folder.  The folder's lock is held. */
int segments_move(const char *from, const char *to, struct err *err);

/* Whether no sealed segment was dropped. */
bool segments_complete(const char *folder);

/* Undoes what a rotation or a retirement that was cut off has left.  The
 * folder's lock is held. */
int segments_mend(const char *folder, struct err *err);

/* Removes the snapshots before the second newest one. */
int segments_forget(const char *folder, const struct logio *io,
                    struct err *err);

#define SEGMENTS_SAID_MAX 160
#define SEGMENTS_COMPRESS_MAX 4 /* how many segments one call compresses */

/* Compresses or drops, by the policy, the segments up to `upto`, for which
 * command.UPTO.snapshot stands; says in words what was done, "" for nothing.
 * Compressed are the oldest, SEGMENTS_COMPRESS_MAX at most.  It may fail
 * half-way: the log can be read at any time.  Any one thread at a time. */
int segments_retire(const char *folder, uint64_t upto, enum old_segments policy,
                    const struct logio *io, char said[SEGMENTS_SAID_MAX],
                    struct err *err);

#endif
