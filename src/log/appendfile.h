/* SPDX-License-Identifier: MIT */
/* appendfile.h - the file under a command log: appends whole or not at all,
 * keeps room reserved behind the end, goes to stable storage.  Knows nothing of
 * its content but that it is records.  PROTOCOL.md, "The log".
 *
 * After an error that may pass (no space, over quota, an input/output error)
 * nothing is lost, and the caller tries again: the file is "held".  Every other
 * error is final.  The reader's thread alone. */
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

/* Makes a new file; where there is one of that name, errno is EEXIST.  io NULL:
 * the system's. */
struct appendfile *appendfile_create(const char *path, const struct logio *io,
                                     struct err *err);
/* Opens an existing file, to append to it. */
struct appendfile *appendfile_open(const char *path, const struct logio *io,
                                   struct err *err);
/* Gives back the reserved blocks; waits for the syncing thread. */
void appendfile_close(struct appendfile *f);

/* How long the file is, without reserved blocks. */
uint64_t appendfile_size(const struct appendfile *f);
/* Shortens the file, before anything is appended. */
int appendfile_cut(struct appendfile *f, uint64_t size, struct err *err);

/* How many bytes are not known to be durable yet. */
uint64_t appendfile_unsynced(const struct appendfile *f);

/* From here on syncs by this policy; before, nothing syncs by itself.  Except
 * for SYNC_ALWAYS a thread is started, which signals `wake` (borrowed); where
 * wake is NULL there is no thread, and appendfile_sync_begin() returns when it
 * is done. */
int appendfile_follow(struct appendfile *f, struct sync_policy policy,
                      const struct wake *wake, struct err *err);

enum appendfile_status {
    APPENDFILE_OK,
    APPENDFILE_HELD, /* not appended; to be tried again with the same bytes */
    /* the file can never be appended to again and ends behind the last whole
     * append; err is filled once */
    APPENDFILE_FAILED = -1,
};
/* Appends bytes; under SYNC_ALWAYS they are durable when it returns. */
enum appendfile_status appendfile_append(struct appendfile *f, const void *data,
                                         size_t len, struct err *err);

/* Refuses all later appends. */
void appendfile_fail(struct appendfile *f);

/* Makes everything that was appended durable, however long that takes. */
int appendfile_sync(struct appendfile *f, struct err *err);
/* Begins to make everything durable, on the thread if there is one.  Not while
 * that is under way, which it is until appendfile_sync_take() has given the
 * outcome. */
void appendfile_sync_begin(struct appendfile *f);
bool appendfile_is_syncing(const struct appendfile *f);
bool appendfile_has_thread(const struct appendfile *f);
/* 1: the file is durable up to *upto, more than before; 0: nothing new; -1: it
 * never will be. */
int appendfile_sync_take(struct appendfile *f, uint64_t *upto, struct err *err);

/* What holds the file up, in words; NULL: nothing does. */
const char *appendfile_trouble(const struct appendfile *f, char *out,
                               size_t size);
/* Tries again to reserve and to sync. */
void appendfile_retry(struct appendfile *f);

#endif
