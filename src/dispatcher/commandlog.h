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
#include "dispatcher/emission.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct commandlog;

#define COMMANDLOG_NAME "command.log"

/* Makes the folder where missing, takes the lock, begins the log with `head`
 * (JSON).  A log that is there already, or a living writer, is an error.
 * folder NULL: no log. */
struct commandlog *commandlog_create(const char *folder, const char *head,
                                     size_t head_len, struct err *err);
/* The same for a log that is there, to be gone on with; slots[] (by sender)
 * becomes what the workers were at when its last writer ended. */
struct commandlog *commandlog_reopen(const char *folder, uint64_t slots[2],
                                     struct err *err);
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
/* `text` as in PROTOCOL.md: which half ("t", "a", "ta", or "o" for what is
 * owed from here on), a space, why. */
void commandlog_skipped(struct commandlog *l, uint64_t arrival,
                        const char *text, size_t len);
void commandlog_resumed(struct commandlog *l, uint64_t last_arrival,
                        const char *text);
void commandlog_end(struct commandlog *l, uint64_t last_arrival,
                    const char *how);

/* Appends what was collected.  After a failure nothing is appended any more:
 * the log ends behind the last whole append, and err is not touched again. */
int commandlog_flush(struct commandlog *l, struct err *err);

/* Puts all that was flushed on stable storage and marks it so. */
int commandlog_sync(struct commandlog *l, struct err *err);

/* Whether anything was flushed since the last sync mark. */
bool commandlog_dirty(const struct commandlog *l);

/* The slot in the lock file where a worker writes the arrival number before it
 * calls a plugin, and 0 after; SENDER_DEFAULT or SENDER_ASSESSOR. */
_Atomic uint64_t *commandlog_slot(struct commandlog *l, enum sender worker);

#endif
