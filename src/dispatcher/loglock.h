/* SPDX-License-Identifier: MIT */
/* loglock.h - the lock file beside the command log: one log has one writer,
 * who was at work when it died can be told, and a writer whose manager is gone
 * makes room for the next.  lockfile.h.  The reader's thread alone, but for the
 * slots, which the workers write. */
#ifndef DISPATCHER_LOGLOCK_H
#define DISPATCHER_LOGLOCK_H

#include "lockfile.h"

#include <stdbool.h>

struct err;

struct loglock {
    int fd;               /* -1: no file */
    int asked_fd;         /* readable when somebody asks; -1: nobody can */
    struct lockfile *map; /* `spare` without a file */
    struct lockfile spare;
    struct lockfile before; /* what its last writer left in it */
};

void loglock_init(struct loglock *l);
/* Creates and locks the file; what stands in it stays.  Another writer is asked
 * to let go of it: for two seconds, or for as long as it says that it takes to
 * end; then it is killed.  That its manager is gone it alone says, before that
 * it is not touched.  -1: it stays, or a stop signal is pending. */
int loglock_take(struct loglock *l, const char *path, struct err *err);
/* Ours from here on: what stood in it is moved to `before`. */
int loglock_map(struct loglock *l, const char *path, struct err *err);
void loglock_release(struct loglock *l);

/* As the writer, when asked_fd is readable: whether a process that lives waits
 * for the lock. */
bool loglock_asked(struct loglock *l);
/* What it is told: LOCKFILE_STAYS, or that our manager is gone, and how many
 * milliseconds we take to end.  The latter is never taken back. */
void loglock_answer(struct loglock *l, uint64_t leaves);

#endif
