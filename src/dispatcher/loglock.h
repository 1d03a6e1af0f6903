/* SPDX-License-Identifier: MIT */
/* loglock.h - the lock file beside the command log: one log has one writer,
 * and who was at work when it died can be told.  lockfile.h.  The reader's
 * thread alone, but for the slots, which the workers write. */
#ifndef DISPATCHER_LOGLOCK_H
#define DISPATCHER_LOGLOCK_H

#include "lockfile.h"

struct err;

struct loglock {
    int fd;               /* -1: no file */
    struct lockfile *map; /* `spare` without a file */
    struct lockfile spare;
    struct lockfile before; /* what its last writer left in it */
};

void loglock_init(struct loglock *l);
/* Creates and locks the file, waiting at most two seconds for another to let go
 * of it; what stands in it stays. */
int loglock_take(struct loglock *l, const char *path, struct err *err);
/* Ours from here on: what stood in it is moved to `before`. */
int loglock_map(struct loglock *l, const char *path, struct err *err);
void loglock_release(struct loglock *l);

#endif
