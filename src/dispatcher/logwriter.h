/* SPDX-License-Identifier: MIT */
/* logwriter.h - the file under a command log: appends whole or not at all,
 * keeps room reserved behind the end, goes to stable storage.  Knows nothing
 * of what it holds but that it is records.  PROTOCOL.md, "The log".
 *
 * What may pass (no space, over quota, an input/output error) is held: nothing
 * is lost, and the caller tries again.  Everything else is a failure.  The
 * reader's thread alone. */
#ifndef DISPATCHER_LOGWRITER_H
#define DISPATCHER_LOGWRITER_H

#include "core/sync_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct logio;
struct logwriter;
struct wake;

/* A new file; EEXIST is left to the caller's eye in errno.  io NULL: the
 * system's. */
struct logwriter *logwriter_create(const char *path, const struct logio *io,
                                   struct err *err);
/* One that is there, to be appended to. */
struct logwriter *logwriter_open(const char *path, const struct logio *io,
                                 struct err *err);
/* Gives back what was reserved.  Waits for the thread. */
void logwriter_close(struct logwriter *w);

/* Bytes that were appended. */
uint64_t logwriter_size(const struct logwriter *w);
/* Shortens it, before anything is appended. */
int logwriter_cut(struct logwriter *w, uint64_t size, struct err *err);

/* Bytes that are not durable yet, as far as is known. */
uint64_t logwriter_unsynced(const struct logwriter *w);

/* From here on by this policy.  Until then nothing syncs by itself.  But for
 * SYNC_ALWAYS a thread is started, which signals `wake` (borrowed); without
 * one (wake is NULL) logwriter_ask() does not return before it is done. */
int logwriter_follow(struct logwriter *w, struct sync_policy policy,
                     const struct wake *wake, struct err *err);

enum logwriter_status {
    LOGWRITER_OK,
    LOGWRITER_HELD,        /* not appended; to be tried again, the same bytes
                              first */
    LOGWRITER_FAILED = -1, /* nor will it ever be: the file ends behind the
                              last whole append; err is filled once */
};
/* Under SYNC_ALWAYS it is durable, too. */
enum logwriter_status logwriter_append(struct logwriter *w, const void *data,
                                       size_t len, struct err *err);

/* It is not to be appended to any more. */
void logwriter_fail(struct logwriter *w);

/* Makes all that was appended durable, however long it takes. */
int logwriter_sync(struct logwriter *w, struct err *err);
/* Begins to; not while one is under way. */
void logwriter_ask(struct logwriter *w);
bool logwriter_asked(const struct logwriter *w);
/* Whether a thread does it. */
bool logwriter_has_thread(const struct logwriter *w);
/* 1: so many bytes, more than before, became durable: *upto; 0: nothing new;
 * -1: they never will. */
int logwriter_take(struct logwriter *w, uint64_t *upto, struct err *err);

/* Whether something does not go on, and what, in words; NULL: all is well. */
const char *logwriter_trouble(const struct logwriter *w, char *out,
                              size_t size);
/* Tries again what logwriter_append() does not: to reserve, to sync. */
void logwriter_retry(struct logwriter *w);

#endif
