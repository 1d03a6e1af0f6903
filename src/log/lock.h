/* SPDX-License-Identifier: MIT */
/* lock.h - the lock file beside the command log.  It sees to it that a log has
 * one writer, tells after a crash at which command each worker was, and lets a
 * writer whose manager is gone make room for the next.  PROTOCOL.md, "The log",
 * "Begin slots" and "Taking over".
 *
 * The file is locked (core/hold.h) while its writer lives, and mapped; where
 * its file system has no shared mappings what would be stored is written.  To
 * change its layout: raise the digit in the magic; a file of another version is
 * only ever locked, not read.  A writer's calls are made on the reader's thread
 * alone; only the slots are written by the workers. */
#ifndef LOG_LOCK_H
#define LOG_LOCK_H

#include "core/hold.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define LOCKFILE_NAME "command.lock"
#define LOCKFILE_MAGIC "tunepipe-lock 2\n" /* 16 bytes, without the NUL */

/* In a slot in place of an arrival number: the worker's plugin is being saved,
 * or loaded. */
#define LOCKFILE_SAVING UINT64_MAX
#define LOCKFILE_LOADING (UINT64_MAX - 1)

/* In `leaves`: the writer's manager is there, so the writer stays. */
#define LOCKFILE_STAYS UINT64_MAX

/* A process, by its id and its time of start (process_start()). */
struct lockfile_process {
    uint64_t pid, start;
};

enum { LOCKFILE_DEFAULT, LOCKFILE_ASSESSOR, LOCKFILE_SLOTS };

struct lockfile {
    char magic[16];
    struct lockfile_process writer;
    /* The arrival number of the command that a worker is at, 0 between
     * commands, or LOCKFILE_SAVING, or LOCKFILE_LOADING. */
    _Atomic uint64_t slots[LOCKFILE_SLOTS];
    /* What the writer answers: 0: nothing yet; LOCKFILE_STAYS; else its manager
     * is gone, and it ends within so many milliseconds. */
    _Atomic uint64_t leaves;
    /* The process that waits for the lock, which writes this. */
    struct lockfile_process asker;
};

/* ---- for who does not write the log ---- */

/* Opens the folder's lock file for reading; -1: there is none. */
int lockfile_open(const char *folder);
/* Whether a process has the log locked for writing. */
bool lockfile_is_locked(int fd);
/* Reads the lock file; false: it is not whole, or of another version. */
bool lockfile_load(int fd, struct lockfile *out);
/* Opens and reads the folder's lock file, which its last writer left; false
 * where that cannot be done. */
bool lockfile_read(const char *folder, struct lockfile *out);

/* ---- the writer's ---- */

/* Where a worker says what it is at. */
struct lockslot {
    _Atomic uint64_t *at;
    int fd;        /* of the file, where it cannot be mapped; else -1 */
    size_t offset; /* there */
};

void lockslot_write(const struct lockslot *s, uint64_t what);

/* Any one thread at a time. */
static inline void
lockslot_set(const struct lockslot *s, uint64_t what)
{
    atomic_store_explicit(s->at, what, memory_order_relaxed);
    if (s->fd >= 0)
        lockslot_write(s, what);
}

struct loglock {
    int fd; /* -1: no file */
    struct hold hold;
    int asked_fd; /* readable when a process asks for the lock; -1: none can */
    struct lockfile *map; /* `spare` without a file, or a mapping of it */
    struct lockfile spare;
    struct lockslot slots[LOCKFILE_SLOTS];
    struct lockfile before; /* what the last writer left in the file */
};

void loglock_init(struct loglock *l);
/* Creates and locks the file, whose content stays.  Where another writer has
 * it, that one is asked to let go of it: two seconds are waited, or as long as
 * it says that it takes to end; then it is killed.  A writer whose manager is
 * not gone, by its own word, is not touched.  -1: it stays, or a stop signal is
 * pending. */
int loglock_take(struct loglock *l, const char *path, struct err *err);
/* Maps the locked file for writing; its content is moved to `before`. */
int loglock_map(struct loglock *l, const char *path, struct err *err);
void loglock_release(struct loglock *l);
/* What the file's file system lacks, and what is done instead, in words; NULL:
 * nothing. */
const char *loglock_lacks(const struct loglock *l);

/* When asked_fd is readable: whether a living process waits for the lock. */
bool loglock_asked(struct loglock *l);
/* Answers that process: LOCKFILE_STAYS, or that our manager is gone and how
 * many milliseconds we take to end, which is never taken back. */
void loglock_answer(struct loglock *l, uint64_t leaves);

#endif
