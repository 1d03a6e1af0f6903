/* SPDX-License-Identifier: MIT */
/* lockfile.h - the file beside the command log: who writes the log, which
 * command each worker is at, and who wants to write it next.  PROTOCOL.md, "The
 * log", "Begin slots" and "Taking over".
 *
 * It is locked (F_OFD_SETLK) while its writer lives, and mapped; what stands
 * in it after a crash tells who was at work.  To change it: raise the digit in
 * the magic; another version's file is only ever locked, not read. */
#ifndef PROTOCOL_LOCKFILE_H
#define PROTOCOL_LOCKFILE_H

#include <stdint.h>

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

#endif
