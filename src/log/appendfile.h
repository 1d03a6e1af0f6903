/* SPDX-License-Identifier: MIT */
/* appendfile.h - the file under a command log: appends whole or not at all,
 * keeps room reserved behind the end, goes to stable storage.  Knows nothing
 * of what it holds but that it is records.  PROTOCOL.md, "The log".
 *
 * What may pass (no space, over quota, an input/output error) is held: nothing
 * is lost, and the caller tries again.  Everything else is a failure.  The
 * reader's thread alone. */
#ifndef LOG_APPENDFILE_H
#define LOG_APPENDFILE_H

#include "core/log_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct appendfile;
struct err;
struct logio;
struct wake;

/* A new file; EEXIST is left to the caller's eye in errno.  io NULL: the
 * system's. */
struct appendfile *appendfile_create(const char *path, const struct logio *io,
                                     struct err *err);
/* One that is there, to be appended to. */
struct appendfile *appendfile_open(const char *path, const struct logio *io,
                                   struct err *err);
/* Gives back what was reserved.  Waits for the thread. */
void appendfile_close(struct appendfile *f);

/* Bytes that were appended. */
uint64_t appendfile_size(const struct appendfile *f);
/* Shortens it, before anything is appended. */
int appendfile_cut(struct appendfile *f, uint64_t size, struct err *err);

/* Bytes that are not durable yet, as far as is known. */
uint64_t appendfile_unsynced(const struct appendfile *f);

/* From here on by this policy.  Until then nothing syncs by itself.  But for
 * SYNC_ALWAYS a thread is started, which signals `wake` (borrowed); without
 * one (wake is NULL) appendfile_sync_begin() does not return before it is done.
 */
int appendfile_follow(struct appendfile *f, struct sync_policy policy,
                      const struct wake *wake, struct err *err);

enum appendfile_status {
    APPENDFILE_OK,
    APPENDFILE_HELD,        /* not appended; to be tried again, the same bytes
                              first */
    APPENDFILE_FAILED = -1, /* nor will it ever be: the file ends behind the
                              last whole append; err is filled once */
};
/* Under SYNC_ALWAYS it is durable, too. */
enum appendfile_status appendfile_append(struct appendfile *f, const void *data,
                                         size_t len, struct err *err);

/* It is not to be appended to any more. */
void appendfile_fail(struct appendfile *f);

/* Makes all that was appended durable, however long it takes. */
int appendfile_sync(struct appendfile *f, struct err *err);
/* Begins to, by the thread if there is one; not while that is under way, which
 * it is until appendfile_sync_take() has said what became of it. */
void appendfile_sync_begin(struct appendfile *f);
bool appendfile_is_syncing(const struct appendfile *f);
bool appendfile_has_thread(const struct appendfile *f);
/* 1: so many bytes, more than before, became durable: *upto; 0: nothing new;
 * -1: they never will. */
int appendfile_sync_take(struct appendfile *f, uint64_t *upto, struct err *err);

/* Whether something does not go on, and what, in words; NULL: all is well. */
const char *appendfile_trouble(const struct appendfile *f, char *out,
                               size_t size);
/* Tries again what appendfile_append() does not: to reserve, to sync. */
void appendfile_retry(struct appendfile *f);

#endif
