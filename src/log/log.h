/* SPDX-License-Identifier: MIT */
/* log.h - the command log for its readers: which file it is, whether it was
 * ever begun, and its records, one after the other, with offsets, through all
 * of its segments as if they were one file.  (core/log.h is another matter:
 * lines for people.)
 *
 * A log that was cut off (the process or the machine died) ends in bytes that
 * are no whole record: behind what the last sync mark vouches for such a tail
 * is cut and reported; before it, and in every segment but the last, damage is
 * an error that names file and offset.
 *
 * A log is void when its writer, or the power, was gone before its head was
 * durable, so that nothing had been taken from anybody yet: command.log, of
 * which there is no other segment, ends, but for zeros, within its first line
 * or its head, or has no first line (the block was never written), and holds no
 * other record.  It reads as an empty log.
 *
 * The oldest segment that there is comes first.  The head (H) and the segment
 * record (G) of those behind it are checked, and not returned.  A file that is
 * not called command.log is read alone.  One thread. */
#ifndef LOG_LOG_H
#define LOG_LOG_H

#include "log/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log_reader;

/* ---- which log ---- */

/* FOLDER/command.log, be it there or not, to be freed; NULL: out of memory. */
char *log_path(const char *folder);
/* The log that a word of the command line means, the file itself or the one in
 * a folder, to be freed.  NULL: there is none, err says what was expected. */
char *log_find(const char *word, struct err *err);
char *log_find_in(const char *folder, struct err *err);

/* Whether the folder's log is void; false where it cannot be read. */
bool log_is_void(const char *folder);
/* Whether it is, or there is the lock file of one that is not there: a
 * dispatcher was started, and nothing came of it. */
bool log_was_left(const char *folder);
/* Whether the folder has a log that is not void, or sealed segments of one. */
bool log_exists(const char *folder);

#define LOG_ASIDE_MAX 32
/* Moves the log with all that belongs to it into the first of the folders
 * FOLDER/earlier-1, earlier-2, ... that there is not yet; writes the name of
 * that to `name`.  -1: err tells (the log's writer lives, ...); half of the
 * files may have been moved, and another call moves the rest. */
int log_set_aside(const char *folder, char name[LOG_ASIDE_MAX],
                  struct err *err);

/* ---- its records ---- */

enum log_flags {
    LOG_KEEP = 1,      /* payloads stay valid until log_close() (but for
                          log_grow()): the maps of all segments are kept; else
                          until the next call */
    LOG_WHOLE = 2,     /* that its first segments were dropped is an error */
    LOG_NO_ADVICE = 4, /* errors do not advise to repair it: for who does */
};

/* Finds the segments, maps the last one; checks version lines. */
struct log_reader *log_open(const char *path, unsigned flags, struct err *err);
/* The folder's log; where there is none, an empty one. */
struct log_reader *log_open_in(const char *folder, unsigned flags,
                               struct err *err);
void log_close(struct log_reader *l);

/* Its path, as it was given. */
const char *log_name(const struct log_reader *l);
/* Whether it was ever begun: false for one that is void, or not there. */
bool log_is_begun(const struct log_reader *l);
/* Its first record, which is the head; -1: it has none. */
int log_read_head(struct log_reader *l, struct record *head, struct err *err);

enum log_status {
    LOG_RECORD, /* *out is filled; its payload lies in the map */
    LOG_END,
    LOG_TORN,    /* the end, but log_torn() bytes were cut */
    LOG_DAMAGED, /* err names file, offset, what is wrong, what to do */
};
enum log_status log_next(struct log_reader *l, struct record *out,
                         struct err *err);

/* Back to the first record. */
void log_rewind(struct log_reader *l);
/* From here on the log begins with the first record of that segment, behind
 * its head; for log_rewind(), too.  -1: there is no such segment. */
int log_start_at(struct log_reader *l, uint64_t segment, struct err *err);

/* For a log that is being written: maps what was appended since, also to
 * segments that were begun since.  1: there is more, what log_next() gave
 * before is invalid; 0: there is not; -1: err tells. */
int log_grow(struct log_reader *l, struct err *err);

/* Where the record last returned stands: its offset in a segment, that
 * segment's number and file, which is borrowed until the next call.  Behind
 * LOG_DAMAGED: the file that is damaged. */
uint64_t log_offset(const struct log_reader *l);
uint64_t log_segment(const struct log_reader *l);
const char *log_path_now(const struct log_reader *l);

/* Bytes of the torn tail, once LOG_TORN was returned. */
uint64_t log_torn(const struct log_reader *l);

/* ---- what is on record ---- */

/* The oldest segment that there is, and the last. */
uint64_t log_first_segment(const struct log_reader *l);
uint64_t log_last_segment(const struct log_reader *l);
/* The last arrival number, and the count of the manager's frames, before that
 * segment; -1: it cannot be read. */
int log_before(const struct log_reader *l, uint64_t segment, uint64_t *arrival,
               uint64_t *frames, struct err *err);
/* Whether what comes before the first segment is not on record any more
 * (dropped), or elsewhere: one line says so in *err. */
bool log_lacks(const struct log_reader *l, struct err *err);

#endif
