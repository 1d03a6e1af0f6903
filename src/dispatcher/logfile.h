/* SPDX-License-Identifier: MIT */
/* logfile.h - reads a command.log: record after record, with offsets, through
 * all of its segments as if they were one file.
 *
 * A log that was cut off (the process or the machine died) ends in bytes that
 * are no whole record: behind what the last sync mark vouches for such a tail
 * is cut and reported; before it, and in every segment but the last, damage is
 * an error that names file and offset.
 *
 * The oldest segment that there is comes first.  The head (H) and the segment
 * record (G) of those behind it are checked, and not returned.  A file that is
 * not called command.log is read alone.  One thread. */
#ifndef DISPATCHER_LOGFILE_H
#define DISPATCHER_LOGFILE_H

#include "record.h"

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

struct err;
struct logfile;

/* Finds the segments, maps the last one; checks version lines.  What was read
 * is not kept in memory: payloads are valid until the next call, if not
 * logfile_keep() was. */
struct logfile *logfile_open(const char *path, struct err *err);
void logfile_close(struct logfile *f);

/* Payloads stay valid until logfile_close() (but for logfile_grow()): the maps
 * of all segments are kept.  Before anything is read. */
void logfile_keep(struct logfile *f);

/* Errors do not advise to repair it: for who does. */
void logfile_repaired(struct logfile *f);

/* Back to the first record. */
void logfile_rewind(struct logfile *f);
/* From here on the log begins with the first record of that segment, behind
 * its head; for logfile_rewind(), too.  -1: there is no such segment. */
int logfile_start_at(struct logfile *f, uint64_t segment, struct err *err);

/* For a log that is being written: maps what was appended since, also to
 * segments that were begun since.  1: there is more, what logfile_next() gave
 * before is invalid; 0: there is not; -1: err tells. */
int logfile_grow(struct logfile *f, struct err *err);

enum logfile_status {
    LOGFILE_RECORD, /* *out is filled; its payload lies in the map */
    LOGFILE_END,
    LOGFILE_TORN,    /* the end, but logfile_torn() bytes were cut */
    LOGFILE_DAMAGED, /* err names file, offset, what is wrong, what to do */
};
enum logfile_status logfile_next(struct logfile *f, struct record *out,
                                 struct err *err);

/* Where the record last returned stands: its offset in a segment, that
 * segment's number and file, which is borrowed until the next call.  Behind
 * LOGFILE_DAMAGED: the file that is damaged. */
uint64_t logfile_offset(const struct logfile *f);
uint64_t logfile_segment(const struct logfile *f);
const char *logfile_path_now(const struct logfile *f);

/* Bytes of the torn tail, once LOGFILE_TORN was returned. */
uint64_t logfile_torn(const struct logfile *f);

/* The oldest segment that there is, and the last. */
uint64_t logfile_first_segment(const struct logfile *f);
uint64_t logfile_last_segment(const struct logfile *f);
/* The last arrival number, and the count of the manager's frames, before that
 * segment; -1: it cannot be read. */
int logfile_before(const struct logfile *f, uint64_t segment, uint64_t *arrival,
                   uint64_t *frames, struct err *err);

/* Whether what comes before the first segment is not on record any more, or
 * elsewhere: one line says so in *err.  For who needs all of it. */
bool logfile_lacks(const struct logfile *f, struct err *err);

#endif
