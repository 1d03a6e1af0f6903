/* SPDX-License-Identifier: MIT */
/* log.h - the command log for its readers: which file it is, whether it was
 * ever begun, and its records, one after the other, with offsets, through all
 * of its segments as if they were one file.  (core/log.h is another matter:
 * lines for people.)
 *
 * A log that was cut off (the process or the machine died) ends in bytes that
 * are no whole record.  Behind what the last sync mark vouches for, such a tail
 * is cut and reported; before that, and in every segment but the last, damage
 * is an error that names file and offset.
 *
 * A log is void when its writer, or the power, was gone before its head was
 * durable: nothing had been taken from anybody yet.  Then there is only
 * command.log, without other segments; but for zeros it ends within its first
 * line or its head, or has no first line (the block was never written), and
 * holds no other record.  It reads as an empty log.
 *
 * Reading begins with the oldest segment.  The head (H) and the segment record
 * (G) of the segments behind it are checked, and not returned.  A file that is
 * not called command.log is read alone.  One thread. */
#ifndef LOG_LOG_H
#define LOG_LOG_H

#include "log/place.h"
#include "log/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log_reader;

/* ---- which log ---- */

/* command.log of the folder, there or in its place, whether it exists
 * or not, to be freed; NULL: err tells. */
char *log_path(const char *folder, struct err *err);
/* The log that an operand of the command line means, the file itself or the
 * one in a folder, to be freed.  NULL: there is none, err says what was
 * expected. */
char *log_find(const char *word, struct err *err);
char *log_find_in(const char *folder, struct err *err);

/* Whether the folder's log is void; false where it cannot be read. */
bool log_is_void(const char *folder);
/* Whether the folder's log is void, or is missing beside a lock file: a
 * dispatcher was started, and nothing came of it. */
bool log_was_left(const char *folder);
/* Whether the folder has a log that is not void, or sealed segments of one. */
bool log_exists(const char *folder);

#define LOG_ASIDE_MAX 32
/* Moves the log with all that belongs to it into the first of the folders
 * FOLDER/earlier-1, earlier-2, ... that does not exist yet, whose name is
 * written to `name`.  -1: err tells (the log's writer lives, ...); half of the
 * files may have been moved, and another call moves the rest. */
int log_set_aside(const char *folder, char name[LOG_ASIDE_MAX],
                  struct err *err);

/* What its writer's process says while the log cannot be written. */
#define LOG_WAITS "nothing is read until it goes on"

/* ---- its records ---- */

enum log_flags {
    /* payloads stay valid until log_close() (but for log_grow()), as the maps
     * of all segments are kept; else until the next call */
    LOG_KEEP = 1,
    LOG_WHOLE = 2, /* it is an error when the first segments were dropped */
    /* errors do not advise to repair the log: for the repair */
    LOG_NO_ADVICE = 4,
};

/* Finds the segments, maps the last one; checks version lines. */
struct log_reader *log_open(const char *path, unsigned flags, struct err *err);
/* Opens the folder's log; where there is none, an empty one. */
struct log_reader *log_open_in(const char *folder, unsigned flags,
                               struct err *err);
void log_close(struct log_reader *l);

/* The path of the log, as it was given. */
const char *log_name(const struct log_reader *l);
/* Whether the log was ever begun: false when it is void, or missing. */
bool log_is_begun(const struct log_reader *l);
/* Reads the first record, which is the head; -1: there is none. */
int log_read_head(struct log_reader *l, struct record *head, struct err *err);

enum log_status {
    LOG_RECORD, /* *out is filled; its payload lies in the map */
    LOG_END,
    LOG_TORN,    /* the end; log_torn() bytes behind it are no record */
    LOG_DAMAGED, /* err names file, offset, what is wrong, what to do */
};
enum log_status log_next(struct log_reader *l, struct record *out,
                         struct err *err);

/* Goes back to the first record. */
void log_rewind(struct log_reader *l);
/* From here on the log begins with the first record of that segment, behind its
 * head, for log_rewind(), too.  -1: there is no such segment. */
int log_start_at(struct log_reader *l, uint64_t segment, struct err *err);

/* For a log that is being written: maps what was appended since, also to
 * segments that were begun since.  1: there is more, and what log_next()
 * returned before is invalid; 0: there is not; -1: err tells. */
int log_grow(struct log_reader *l, struct err *err);

/* Where the record last returned stands: its offset in a segment, that
 * segment's number and file, which is borrowed until the next call.  Behind
 * LOG_DAMAGED: the damaged file. */
uint64_t log_offset(const struct log_reader *l);
uint64_t log_segment(const struct log_reader *l);
const char *log_path_now(const struct log_reader *l);

/* How long the torn tail is, once LOG_TORN was returned. */
uint64_t log_torn(const struct log_reader *l);

/* ---- what is on record ---- */

/* The numbers of the oldest segment and of the last. */
uint64_t log_first_segment(const struct log_reader *l);
uint64_t log_last_segment(const struct log_reader *l);
/* The last arrival number, and the count of the manager's frames, before that
 * segment; -1: it cannot be read. */
int log_before(const struct log_reader *l, uint64_t segment, uint64_t *arrival,
               uint64_t *frames, struct err *err);
/* Whether what comes before the first segment was dropped, or lies elsewhere:
 * *err says so in a line. */
bool log_lacks(const struct log_reader *l, struct err *err);

/* Brings what was appended to the log in this folder to stable storage, as its
 * writer does by and by; for others than that.  Any thread. */
int log_sync(const char *folder, struct err *err);

#endif
