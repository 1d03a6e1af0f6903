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

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct logio;
struct logwriter;
struct wake;

/* Makes the folder where missing, takes the lock, begins the log with `head`
 * (JSON).  A log that is there already, or a living writer, is an error.
 * folder NULL: no log.  io NULL: the system's. */
struct logwriter *logwriter_create(const char *folder, const char *head,
                                   size_t head_len, const struct logio *io,
                                   struct err *err);
/* Opens a log that is there, to be gone on with, and takes the lock; slots[]
 * becomes what the workers were at when its last writer ended. */
struct logwriter *logwriter_reopen(const char *folder, const struct logio *io,
                                   uint64_t slots[LOCKFILE_SLOTS],
                                   struct err *err);
/* Before anything is appended to it: cuts so many bytes, which are no whole
 * record, from its end. */
int logwriter_cut(struct logwriter *w, uint64_t torn, struct err *err);
/* Frees without a word; what was not flushed is lost. */
void logwriter_free(struct logwriter *w);

/* Collects a record, as record.h says what they hold: one whose payload is a
 * frame's code and payload, one of text, one of bytes. */
void logwriter_frame(struct logwriter *w, enum record_kind kind,
                     uint64_t number, const struct frame *frame);
void logwriter_text(struct logwriter *w, enum record_kind kind, uint64_t number,
                    const char *text);
void logwriter_add(struct logwriter *w, enum record_kind kind, uint64_t number,
                   const void *payload, size_t len);

enum logwriter_status {
    LOGWRITER_OK,
    LOGWRITER_HELD,        /* it stays collected; logwriter_tend() tries
                               again, and nothing of it may take effect */
    LOGWRITER_FAILED = -1, /* nothing is appended any more: the log ends
                               behind the last whole append, and err is not
                               touched again */
};
/* Appends what was collected; under SYNC_ALWAYS it is durable then. */
enum logwriter_status logwriter_flush(struct logwriter *w, struct err *err);
/* Whether something is held. */
bool logwriter_held(const struct logwriter *w);
/* Forgets what is held: it was never taken in. */
void logwriter_take_back(struct logwriter *w);

/* Sync by this policy from here on; what is held up is tried again every
 * retry_ms.  `wake` (borrowed) is signalled when logwriter_tend() has
 * something to do; NULL: it then waits for the disk itself. */
int logwriter_follow(struct logwriter *w, struct sync_policy policy,
                     const struct wake *wake, int64_t retry_ms,
                     struct err *err);
/* Somebody waits until all that was appended is durable; whether it is. */
void logwriter_hurry(struct logwriter *w);
bool logwriter_hurried(const struct logwriter *w);

/* ---- segments ---- */

/* From so many bytes on a segment is long enough; 0 (so it begins): never.
 * Before logwriter_follow(). */
void logwriter_set_segments(struct logwriter *w, uint64_t size);
/* Raises that length to so much as a snapshot takes; it never falls. */
void logwriter_grow_limit(struct logwriter *w, uint64_t at_least);
/* The number of command.log among the segments, from 1 on. */
uint64_t logwriter_segment(const struct logwriter *w);
/* Whether command.log is long enough, most of it is on stable storage, and
 * nothing is collected or held. */
bool logwriter_rotation_due(const struct logwriter *w);
/* Whether it is twice as long as it should be. */
bool logwriter_is_overlong(const struct logwriter *w);
/* Seals command.log, which becomes command.N.log, and begins the next segment;
 * waits for the disk.  last_arrival, frames: of the last input, and how many
 * of the manager's there were.  OK: logwriter_segment() is one more.  HELD:
 * nothing has changed, err tells why; it is due again when the log has grown by
 * a quarter of its limit.  FAILED: as above. */
enum logwriter_status logwriter_rotate(struct logwriter *w,
                                       uint64_t last_arrival, uint64_t frames,
                                       struct err *err);

/* Does what is due: syncs, marks, tries again.  Returns at once.  -1: nothing
 * is appended any more. */
int logwriter_tend(struct logwriter *w, struct err *err);
/* When to call it next, of the monotonic clock; 0: whenever. */
int64_t logwriter_next_ns(const struct logwriter *w);
/* What does not go on, in words; NULL: all is well.  While it is not, nothing
 * more should be taken in. */
const char *logwriter_trouble(const struct logwriter *w, char *out,
                              size_t size);

/* Appends what was collected, puts all on stable storage and marks it so,
 * however long that takes.  -1 also when it is held; 0 when appending failed
 * before: there is nothing more to do. */
int logwriter_sync(struct logwriter *w, struct err *err);
/* logwriter_sync() at the end, where a log that failed before is a failure. */
int logwriter_finish(struct logwriter *w, struct err *err);

/* Whether anything was flushed since the last sync mark. */
bool logwriter_dirty(const struct logwriter *w);

/* Who else wants to write the log: loglock_asked(), loglock_answer(). */
struct loglock *logwriter_lock(struct logwriter *w);

/* The slot in the lock file where a worker writes the arrival number before it
 * calls a plugin, and 0 after; LOCKFILE_DEFAULT or LOCKFILE_ASSESSOR. */
_Atomic uint64_t *logwriter_slot(struct logwriter *w, int worker);

#endif
