/* SPDX-License-Identifier: MIT */
/* commandlog.h - writes command.log, the truth about a session, and the lock
 * file beside it.  PROTOCOL.md, "The log".
 *
 * Records are collected and appended by commandlog_flush() in one write(2):
 * the caller flushes before what they record takes effect.  The reader's
 * thread alone; only the begin slots are written by the workers.
 *
 * Without a folder there is no log: every call is then a no-op. */
#ifndef DISPATCHER_COMMANDLOG_H
#define DISPATCHER_COMMANDLOG_H

#include "command.h"
#include "core/sync_policy.h"
#include "dispatcher/emission.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commandlog;
struct err;
struct frame;
struct logio;
struct loglock;
struct wake;

#define COMMANDLOG_NAME "command.log"

/* Makes the folder where missing, takes the lock, begins the log with `head`
 * (JSON).  A log that is there already, or a living writer, is an error.
 * folder NULL: no log.  io NULL: the system's. */
struct commandlog *commandlog_create(const char *folder, const char *head,
                                     size_t head_len, const struct logio *io,
                                     struct err *err);
/* The same for a log that is there, to be gone on with; slots[] (by sender)
 * becomes what the workers were at when its last writer ended. */
struct commandlog *commandlog_reopen(const char *folder, const struct logio *io,
                                     uint64_t slots[2], struct err *err);
/* Before anything is appended to it: cuts so many bytes, which are no whole
 * record, from its end. */
int commandlog_cut(struct commandlog *l, uint64_t torn, struct err *err);
/* Frees without a word; what was not flushed is lost. */
void commandlog_free(struct commandlog *l);

void commandlog_in(struct commandlog *l, uint64_t arrival,
                   const struct frame *frame);
/* What the program that is the tuner (SENDER_DEFAULT) or the assessor sent,
 * and what became of it (`text` as in PROTOCOL.md). */
void commandlog_program(struct commandlog *l, enum sender program,
                        uint64_t arrival, const struct frame *frame);
void commandlog_event(struct commandlog *l, enum sender program,
                      uint64_t arrival, const char *text);
void commandlog_out(struct commandlog *l, const struct emission *e);
/* `text` as in PROTOCOL.md: letters that say which half and how ("t", "A",
 * "xt", "o", ...), a space, why. */
void commandlog_skipped(struct commandlog *l, uint64_t arrival,
                        const char *text, size_t len);
void commandlog_resumed(struct commandlog *l, uint64_t last_arrival,
                        const char *text);
void commandlog_end(struct commandlog *l, uint64_t last_arrival,
                    const char *how);

enum commandlog_status {
    COMMANDLOG_OK,
    COMMANDLOG_HELD,        /* it stays collected; commandlog_tend() tries
                               again, and nothing of it may take effect */
    COMMANDLOG_FAILED = -1, /* nothing is appended any more: the log ends
                               behind the last whole append, and err is not
                               touched again */
};
/* Appends what was collected; under SYNC_ALWAYS it is durable then. */
enum commandlog_status commandlog_flush(struct commandlog *l, struct err *err);
/* Whether something is held. */
bool commandlog_held(const struct commandlog *l);
/* Forgets what is held: it was never taken in. */
void commandlog_take_back(struct commandlog *l);

/* Sync by this policy from here on; what is held up is tried again every
 * retry_ms.  `wake` (borrowed) is signalled when commandlog_tend() has
 * something to do; NULL: it then waits for the disk itself. */
int commandlog_follow(struct commandlog *l, struct sync_policy policy,
                      const struct wake *wake, int64_t retry_ms,
                      struct err *err);
/* Somebody waits until all that was appended is durable; whether it is. */
void commandlog_hurry(struct commandlog *l);
bool commandlog_hurried(const struct commandlog *l);

/* ---- segments ---- */

/* From so many bytes on a segment is long enough; 0 (so it begins): never.
 * Before commandlog_follow(). */
void commandlog_set_segments(struct commandlog *l, uint64_t size);
/* The same, as long as it is more: so much as a snapshot takes. */
void commandlog_grow_limit(struct commandlog *l, uint64_t at_least);
/* The number of command.log among the segments, from 1 on. */
uint64_t commandlog_segment(const struct commandlog *l);
/* Whether command.log is long enough, most of it is on stable storage, and
 * nothing is collected or held. */
bool commandlog_rotation_due(const struct commandlog *l);
/* Whether it is twice as long as it should be. */
bool commandlog_is_overlong(const struct commandlog *l);
/* Seals command.log, which becomes command.N.log, and begins the next segment;
 * waits for the disk.  last_arrival, frames: of the last input, and how many
 * of the manager's there were.  OK: commandlog_segment() is one more.  HELD:
 * nothing has changed, err tells why; it is due again when the log has grown by
 * a quarter of its limit.  FAILED: as above. */
enum commandlog_status commandlog_rotate(struct commandlog *l,
                                         uint64_t last_arrival, uint64_t frames,
                                         struct err *err);

/* Does what is due: syncs, marks, tries again.  Returns at once.  -1: nothing
 * is appended any more. */
int commandlog_tend(struct commandlog *l, struct err *err);
/* When to call it next, of the monotonic clock; 0: whenever. */
int64_t commandlog_next_ns(const struct commandlog *l);
/* What does not go on, in words; NULL: all is well.  While it is not, nothing
 * more should be taken in. */
const char *commandlog_trouble(const struct commandlog *l, char *out,
                               size_t size);

/* Appends what was collected, puts all on stable storage and marks it so,
 * however long that takes.  -1 also when it is held; 0 when appending failed
 * before: there is nothing more to do. */
int commandlog_sync(struct commandlog *l, struct err *err);
/* The same at the end, where a log that failed is a failure. */
int commandlog_finish(struct commandlog *l, struct err *err);

/* Whether anything was flushed since the last sync mark. */
bool commandlog_dirty(const struct commandlog *l);

/* Who else wants to write the log: loglock_asked(), loglock_answer(). */
struct loglock *commandlog_lock(struct commandlog *l);

/* The slot in the lock file where a worker writes the arrival number before it
 * calls a plugin, and 0 after; SENDER_DEFAULT or SENDER_ASSESSOR. */
_Atomic uint64_t *commandlog_slot(struct commandlog *l, enum sender worker);

#endif
