/* SPDX-License-Identifier: MIT */
/* lockfile.h - the file beside the command log: who writes the log, and which
 * command each worker is at.  PROTOCOL.md, "The log", "Begin slots".
 *
 * It is locked (F_OFD_SETLK) while its writer lives, and mapped; what stands
 * in it after a crash tells who was at work.  To change it: raise the digit in
 * the magic; another version's file is only ever locked, not read. */
#ifndef PROTOCOL_LOCKFILE_H
#define PROTOCOL_LOCKFILE_H

#include <stdint.h>

#define LOCKFILE_NAME "command.lock"
#define LOCKFILE_MAGIC "tunepipe-lock 1\n" /* 16 bytes, without the NUL */

/* In place of an arrival number: its plugin is being saved, or loaded. */
#define LOCKFILE_SAVING UINT64_MAX
#define LOCKFILE_LOADING (UINT64_MAX - 1)

enum { LOCKFILE_DEFAULT, LOCKFILE_ASSESSOR, LOCKFILE_SLOTS };

struct lockfile {
    char magic[16];
    uint64_t pid;
    /* The arrival number a worker is at, 0 between commands, or
     * LOCKFILE_SAVING, or LOCKFILE_LOADING. */
    _Atomic uint64_t slots[LOCKFILE_SLOTS];
};

#endif
