/* SPDX-License-Identifier: MIT */
/* process.h - processes: the one way to start a program, the end of one that
 * was started, and processes that others have started.  Links to libc alone.
 * Any thread. */
#ifndef CORE_PROCESS_H
#define CORE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- to start one ---- */

#define PROCESS_NULL (-1) /* /dev/null */
#define PROCESS_OURS (-2) /* what this process has there, be it nothing */
#define PROCESS_PIPE (-3) /* a new pipe, whose other end is ours */

/* How a program is started.  It gets the descriptors 0, 1 and 2 alone, the
 * others being close-on-exec; all its signals have their default disposition
 * and none is blocked; it leads a process group of its own, so that a
 * terminal's Ctrl-C is left to us. */
struct process_spawn {
    const char *const *argv; /* ends with NULL */
    bool along_path;         /* argv[0] without a slash is found along PATH */
    char *const *env;        /* NULL: ours */
    const char *folder;      /* where it runs; NULL: where we do */
    int files[3];            /* its 0, 1 and 2: ours, borrowed, or as above */
    int *pipes;   /* [3]: become our ends, where it has a PROCESS_PIPE,
                     and -1; NULL: it has none */
    bool session; /* it leads a session, too */
    bool tied;    /* killed when the thread that starts it ends: main's */
    int blocked;  /* the one signal that stays blocked; 0: none */
    /* Called in the new process, at last, unless NULL: async-signal-safe, in
     * our memory.  Not 0, with errno: the program is not started. */
    int (*ready)(const void *arg);
    const void *arg;
};

/* The step of starting a program that failed, in their order. */
enum process_step {
    PROCESS_PIPED,
    PROCESS_MADE, /* no process, or no pidfd for it, could be had */
    PROCESS_TIED,
    PROCESS_FILES,
    PROCESS_FOLDER,
    PROCESS_READY,
    PROCESS_BEGUN, /* the program itself */
};

struct process_failure {
    enum process_step step;
    int number; /* errno */
    int ready;  /* what ready() returned */
};

/* Starts a program, which has begun when this returns.  Returns its process id
 * and, unless `pidfd` is NULL, a pidfd; -1: errno and *failure (may be NULL)
 * tell why, and no process is left. */
pid_t process_spawn(const struct process_spawn *how, int *pidfd,
                    struct process_failure *failure);

/* Makes a copy of this process which has the calling thread alone and is killed
 * when that ends; what is buffered for files is written before.  0 in the copy;
 * in the caller as process_spawn(). */
pid_t process_fork(int *pidfd);

/* Our environment with `ours` (NAME=VALUE, ends with NULL) before all and
 * without any other variable of these names, or of those in `unset` (names
 * alone, ends with NULL; NULL: none).  To be freed; the texts are borrowed.
 * NULL: no memory. */
char **process_environment(char *const ours[], const char *const unset[]);

/* Closes all files from 3 on or, where that is asked for by CLOSE_RANGE_CLOEXEC
 * (4), has exec(2) close them; false: the kernel cannot (Linux 5.9, 5.11).  The
 * call itself is glibc's since 2.34. */
bool process_close_others(unsigned int flags);

/* ---- its end ---- */

/* What waitid(2) calls P_PIDFD, in glibc since 2.36. */
#define PROCESS_PIDFD ((idtype_t)3)

/* Waits for the end of a child, takes its status and closes the pidfd, which
 * becomes -1. */
siginfo_t process_reap(int *pidfd);

/* ---- of others: an id is given again to another one, an id with the time at
 * which the process began is not ---- */

/* When the process began, in ticks since the machine did; its parent.  0: there
 * is no such process. */
uint64_t process_start(pid_t pid);
pid_t process_parent(pid_t pid);

/* A pidfd of the process that has the id now; -1: there is none, or errno
 * tells. */
int process_watch(pid_t pid);
/* A pidfd of the process that has the id and began then; -1: it is gone. */
int process_open(pid_t pid, uint64_t start);
/* Whether the process has ended, be it that nobody has taken its status yet. */
bool process_ended(int pidfd);
/* Sends the process a signal; false: it is gone, or not ours to signal. */
bool process_kill(int pidfd, int number);

#endif
