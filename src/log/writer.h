/* SPDX-License-Identifier: MIT */
/* writer.h - writes command.log, the truth about a session, and the lock
 * file beside it.  PROTOCOL.md, "The log".
 *
 * Records are collected and appended by logwriter_flush() in one write(2):
 * the caller flushes before what they record takes effect.  The reader's
 * thread alone; only the begin slots are written by the workers.
 *
 * Without a folder there is no log: every call is then a no-op. */
#ifndef LOG_WRITER_H
#define LOG_WRITER_H

#include "core/log_policy.h"
#include "log/lock.h"
#include "log/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct logio;
struct logwriter;
struct wake;

/* Makes the folder where missing, takes the lock, begins the log with `head`
 * (JSON).  It is an error when there is a log already, or its writer lives.
 * folder NULL: no log is written.  io NULL: the system's calls. */
struct logwriter *logwriter_create(const char *folder, const char *head,
                                   size_t head_len, const struct logio *io,
                                   struct err *err);
/* Opens an existing log, to go on with it, and takes the lock; slots[] becomes
 * what the workers were at when its last writer ended. */
struct logwriter *logwriter_reopen(const char *folder, const struct logio *io,
                                   uint64_t slots[LOCKFILE_SLOTS],
                                   struct err *err);
/* Cuts so many bytes, which are no whole record, from the end of the log, and
 * syncs it, before anything is appended. */
int logwriter_cut(struct logwriter *w, uint64_t torn, struct err *err);
/* Frees the writer without a word; what was not flushed is lost. */
void logwriter_free(struct logwriter *w);

/* Collect a record for the next flush, whose payload is a frame's code and
 * payload; a text; bytes. */
void logwriter_frame(struct logwriter *w, enum record_kind kind,
                     uint64_t number, const struct frame *frame);
void logwriter_text(struct logwriter *w, enum record_kind kind, uint64_t number,
                    const char *text);
void logwriter_add(struct logwriter *w, enum record_kind kind, uint64_t number,
                   const void *payload, size_t len);

enum logwriter_status {
    LOGWRITER_OK,
    LOGWRITER_HELD,        /* what was collected waits and is tried again by
                              logwriter_tend(); nothing of it may take effect */
    LOGWRITER_FAILED = -1, /* nothing is appended any more: the log ends
                               behind the last whole append, and err is not
                               touched again */
};
/* Appends what was collected; under SYNC_ALWAYS it is durable then. */
enum logwriter_status logwriter_flush(struct logwriter *w, struct err *err);
/* Whether something was collected that could not be appended. */
bool logwriter_held(const struct logwriter *w);
/* Forgets what could not be appended: it counts as never read. */
void logwriter_take_back(struct logwriter *w);

/* From here on syncs by this policy; what failed is tried again every retry_ms.
 * `wake` (borrowed) is signalled when logwriter_tend() has something to do;
 * where it is NULL, that call waits for the disk itself. */
int logwriter_follow(struct logwriter *w, struct sync_policy policy,
                     const struct wake *wake, int64_t retry_ms,
                     struct err *err);
/* Asks for all that was appended to become durable soon; whether it is. */
void logwriter_hurry(struct logwriter *w);
bool logwriter_hurried(const struct logwriter *w);

/* ---- segments ---- */

/* Sets the length from which on a segment is long enough; 0, the default:
 * never. Before logwriter_follow(). */
void logwriter_set_segments(struct logwriter *w, uint64_t size);
bool logwriter_has_segments(const struct logwriter *w);
/* Raises that length to that of a snapshot; it never falls. */
void logwriter_grow_limit(struct logwriter *w, uint64_t at_least);
/* The number of the segment that command.log is, from 1 on. */
uint64_t logwriter_segment(const struct logwriter *w);
/* Whether command.log is long enough, most of it is on stable storage, and
 * nothing is collected or held. */
bool logwriter_rotation_due(const struct logwriter *w);
/* Whether command.log is twice as long as a segment should be. */
bool logwriter_is_overlong(const struct logwriter *w);
/* Seals command.log, which becomes command.N.log, and begins the next segment;
 * waits for the disk.  last_arrival, frames: number of the last input, and how
 * many of the inputs were the manager's frames.  OK: logwriter_segment() is one
 * more.  HELD: nothing has changed, err tells why; it is due again when the log
 * has grown by a quarter of its limit, or never where there are no hard links.
 * FAILED: nothing can be appended any more. */
enum logwriter_status logwriter_rotate(struct logwriter *w,
                                       uint64_t last_arrival, uint64_t frames,
                                       struct err *err);

/* Does what is due: syncs, marks, tries again.  Returns at once.  -1: nothing
 * can be appended any more. */
int logwriter_tend(struct logwriter *w, struct err *err);
/* When logwriter_tend() is due next, on the monotonic clock; 0: never. */
int64_t logwriter_next_ns(const struct logwriter *w);
/* What holds the log up, in words; NULL: nothing.  While something does, no
 * more should be read. */
const char *logwriter_trouble(const struct logwriter *w, char *out,
                              size_t size);

/* Appends what was collected, puts all on stable storage and marks it so,
 * however long that takes.  -1 also when it cannot be appended for now; 0 when
 * appending has failed for good: there is nothing more to do. */
int logwriter_sync(struct logwriter *w, struct err *err);
/* logwriter_sync() at the end of a session, where a log that failed before is a
 * failure. */
int logwriter_finish(struct logwriter *w, struct err *err);

/* The folder in which the log lies; NULL: none is written. */
const char *logwriter_folder(const struct logwriter *w);
/* The lock, for loglock_asked() and loglock_answer(): whether another process
 * wants to write the log. */
struct loglock *logwriter_lock(struct logwriter *w);

/* The slot in the lock file where a worker writes the arrival number before it
 * calls a plugin, and 0 after; LOCKFILE_DEFAULT or LOCKFILE_ASSESSOR. */
const struct lockslot *logwriter_slot(const struct logwriter *w, int worker);

#endif
