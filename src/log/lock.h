/* SPDX-License-Identifier: MIT */
/* lock.h - the lock file beside the command log: one log has one writer, who
 * was at work when it died can be told, and a writer whose manager is gone
 * makes room for the next.  PROTOCOL.md, "The log", "Begin slots" and "Taking
 * over".
 *
 * It is locked (F_OFD_SETLK) while its writer lives, and mapped; what stands
 * in it after a crash tells who was at work.  To change it: raise the digit in
 * the magic; another version's file is only ever locked, not read.
 *
 * A writer's calls are the reader's thread's alone, but for the slots, which
 * the workers write. */
#ifndef LOG_LOCK_H
#define LOG_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define LOCKFILE_NAME "command.lock"
#define LOCKFILE_MAGIC "tunepipe-lock 2\n" /* 16 bytes, without the NUL */

/* In place of an arrival number: its plugin is being saved, or loaded. */
#define LOCKFILE_SAVING UINT64_MAX
#define LOCKFILE_LOADING (UINT64_MAX - 1)

/* In place of how long it takes to end: the writer's manager is there. */
#define LOCKFILE_STAYS UINT64_MAX

/* A process, by its id and when it began (process_start()). */
struct lockfile_process {
    uint64_t pid, start;
};

enum { LOCKFILE_DEFAULT, LOCKFILE_ASSESSOR, LOCKFILE_SLOTS };

struct lockfile {
    char magic[16];
    struct lockfile_process writer;
    /* The arrival number a worker is at, 0 between commands, or
     * LOCKFILE_SAVING, or LOCKFILE_LOADING. */
    _Atomic uint64_t slots[LOCKFILE_SLOTS];
    /* The writer's word: 0: none yet; LOCKFILE_STAYS; else its manager is gone,
     * and it ends within so many milliseconds. */
    _Atomic uint64_t leaves;
    /* Written by who waits for the lock. */
    struct lockfile_process asker;
};

/* ---- for who does not write the log ---- */

/* The folder's lock file, to be read; -1: there is none. */
int lockfile_open(const char *folder);
/* Whether somebody writes the log. */
bool lockfile_is_locked(int fd);
/* False: it is not whole, or of another version. */
bool lockfile_load(int fd, struct lockfile *out);
/* All three: what the folder's last writer left there. */
bool lockfile_read(const char *folder, struct lockfile *out);

/* ---- the writer's ---- */

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
