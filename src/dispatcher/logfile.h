/* SPDX-License-Identifier: MIT */
/* logfile.h - reads a command.log: record after record, with offsets.
 *
 * A log that was cut off (the process or the machine died) ends in bytes that
 * are no whole record: behind what the last sync mark vouches for such a tail
 * is cut and reported; before it, damage is an error that names the offset.
 * One thread. */
#ifndef DISPATCHER_LOGFILE_H
#define DISPATCHER_LOGFILE_H

#include "record.h"

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

struct err;
struct logfile;

/* Maps the file; checks its version line.  What was read is not kept in
 * memory: pages of the map are given back behind the record last returned. */
struct logfile *logfile_open(const char *path, struct err *err);
void logfile_close(struct logfile *f);

/* Back to the first record. */
void logfile_rewind(struct logfile *f);

/* For a log that is being written: maps what was appended since.  1: there is
 * more, what logfile_next() gave before is invalid; 0: there is not; -1: err
 * tells. */
int logfile_grow(struct logfile *f, struct err *err);

enum logfile_status {
    LOGFILE_RECORD, /* *out is filled; its payload lies in the map */
    LOGFILE_END,
    LOGFILE_TORN,    /* the end, but logfile_torn() bytes were cut */
    LOGFILE_DAMAGED, /* err names file, offset and what is wrong */
};
enum logfile_status logfile_next(struct logfile *f, struct record *out,
                                 struct err *err);

/* Offset of the record last returned. */
uint64_t logfile_offset(const struct logfile *f);

/* Bytes of the torn tail, once LOGFILE_TORN was returned. */
uint64_t logfile_torn(const struct logfile *f);

#endif
