/* SPDX-License-Identifier: MIT */
/* segments.h - the files that a command log is made of, by name: the active
 * command.log, the sealed command.1.log, command.2.log, ... before it, which
 * may be compressed or gone, and the snapshots that stand for those that are
 * gone.  PROTOCOL.md, "Segments".  Any thread. */
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

/* The path of one in the folder, to be freed; NULL: out of memory. */
char *segments_path(const char *folder, uint64_t n, enum segment_file file);

/* The numbers of those of that kind that lie in the folder, ascending; *out is
 * to be freed, also when *n is 0. */
int segments_list(const char *folder, enum segment_file file, uint64_t **out,
                  size_t *n, struct err *err);

/* The path of a sealed segment or a snapshot in the folder, to be freed; NULL:
 * there is none, or it cannot be read. */
char *segments_any(const char *folder);

/* The first segment of the chain without a gap that ends with `active`, the
 * number of command.log; 0: err tells.  Whether plain or compressed is for
 * who opens them to see: that may change meanwhile.  A segment that is missing
 * is an error: in the middle, or before the first where no snapshot stands
 * for it. */
uint64_t segments_first(const char *folder, uint64_t active, struct err *err);

/* ---- how a segment begins ---- */

struct segment_head {
    struct record head;     /* size 0: it has no whole one */
    uint64_t number;        /* 1: there is no G record */
    uint64_t arrival;       /* the last arrival number before it */
    uint64_t frames;        /* the manager's before it */
    uint64_t bytes;         /* of the segment before it, when it was sealed */
    size_t begin;           /* of H */
    size_t size;            /* version line, H and G */
    enum record_status end; /* of the bytes behind H: PARTIAL when they were
                               too few to tell */
};

/* Reads the first bytes of a segment; -1: they are of no log. */
int segment_head_read(const char *bytes, size_t len, struct segment_head *out,
                      struct err *err);
#define SEGMENT_HEAD_MAX ((size_t)64 << 20) /* more than any H and G take */
/* Reads them from a segment's file, no more of it into *bytes than that takes:
 * head.payload lies there.  1: done; 0: there is no such file; -1: err names
 * it. */
int segment_head_load(const char *path, enum segment_file file,
                      struct buf *bytes, struct segment_head *out,
                      struct err *err);
/* Appends version line, H as it was, and G with this time. */
void segment_head_write(const struct segment_head *h, int64_t time_us,
                        struct buf *out);

/* ---- what becomes of them ---- */

/* Moves all files of a log to another folder, command.log last: as long as it
 * is there it is the log of that folder.  The folder's lock is held. */
int segments_move(const char *from, const char *to, struct err *err);

/* Whether all sealed ones are there: none was dropped. */
bool segments_complete(const char *folder);

/* Undoes what a rotation or a retirement that was cut off has left.  The
 * folder's lock is held. */
int segments_mend(const char *folder, struct err *err);

/* Removes the snapshots before the second newest one. */
int segments_forget(const char *folder, const struct logio *io,
                    struct err *err);

#define SEGMENTS_SAID_MAX 160
#define SEGMENTS_COMPRESS_MAX 4 /* by one call */

/* Those up to `upto`, which command.UPTO.snapshot stands for, by this policy;
 * what was done is said in words, "" for nothing.  Compressed are the oldest,
 * SEGMENTS_COMPRESS_MAX at most.  Dropped are only those that the snapshot
 * stands for.  It may fail half-way: the log can be read at any
 * time.  Any one thread at a time. */
int segments_retire(const char *folder, uint64_t upto, enum old_segments policy,
                    const struct logio *io, char said[SEGMENTS_SAID_MAX],
                    struct err *err);

#endif
