/* SPDX-License-Identifier: MIT */
/* hold.h - a file that one process at a time holds: by a lock, which ends with
 * the process.  Where the file system has no locks, or none that are known to
 * reach other machines, a file beside it, PATH.held, stands for one: it names
 * the process and its machine.  One that a process of this machine left behind
 * is taken over; of another machine's nobody can tell from here whether it
 * lives, so that one keeps what it holds until its file is removed.  Any
 * thread. */
#ifndef CORE_HOLD_H
#define CORE_HOLD_H

#include <stdbool.h>

struct err;

#define HOLD_ENDING ".held"
#define HOLD_LACKS "no locks that are known to reach other machines"

enum hold_by { HOLD_FLOCK, HOLD_OFD }; /* flock(2); F_OFD_SETLK of fcntl(2) */

struct hold {
    char *note; /* PATH.held, which is ours; NULL: a lock, or nothing */
};

enum hold_word {
    HOLD_FAILED = -1, /* err tells */
    HOLD_TAKEN,       /* until hold_drop(), or `fd` is closed */
    HOLD_OTHERS,      /* another process has it; err says which, where it is
                         another machine's, and else is as it was */
};
/* Takes the file, open as `fd` under this path; returns at once. */
enum hold_word hold_take(struct hold *h, int fd, const char *path,
                         enum hold_by by, struct err *err);
/* Takes it by flock(2) with LOCK_EX or LOCK_SH, or by what stands for either,
 * and waits for those that have it.  -1: err tells, such as that it is another
 * machine's. */
int hold_wait(struct hold *h, int fd, const char *path, int operation,
              struct err *err);
/* Removes what stands for a lock; a lock ends when `fd` is closed. */
void hold_drop(struct hold *h);

/* Whether a process has it, or may have it on another machine. */
bool hold_is_others(int fd, enum hold_by by);

#endif
