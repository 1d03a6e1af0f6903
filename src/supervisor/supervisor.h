/* SPDX-License-Identifier: MIT */
/* supervisor.h - a dispatcher's process, seen from the process that has started
 * it: its start, its end, and at which commands it was then.  `tunepipe run`
 * starts the dispatcher as a program with three pipes, `tunepipe nni` as a copy
 * of itself.  What to do about an end is for them to decide; see deaths.h. */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct lockfile;

struct supervised {
    pid_t pid;
    int pidfd; /* readable when the process has ended; -1: there is none */
};

#define SUPERVISED_NONE \
    (struct supervised) \
    {                   \
        .pidfd = -1     \
    }

/* ---- its start ---- */

/* Our ends of the dispatcher's pipes, which do not block. */
struct supervised_pipes {
    int to, from, words; /* its input, its output, its standard error */
};

/* Starts `tunepipe dispatch` with these words (ends with NULL) behind those
 * that say where its frames go.  `program` is the path of tunepipe; NULL: the
 * one beside our own executable.  It leads a process group, so that a
 * terminal's Ctrl-C is left to us. */
int supervisor_start(struct supervised *s, const char *program,
                     const char *folder, const char *const words[],
                     struct supervised_pipes *out, struct err *err);

/* Makes a copy of this process, before any thread is started, which is killed
 * when this one ends.  Returns 1 here, 0 in the copy; -1: err tells. */
int supervisor_fork(struct supervised *s, struct err *err);

/* ---- its end ---- */

/* Sends the process a signal, if there is a process.  Any thread. */
void supervisor_signal(const struct supervised *s, int number);

/* Whether the process ends within so many milliseconds.  Any thread. */
bool supervisor_ends_within(const struct supervised *s, int ms);

struct supervised_end {
    int status;   /* exit status; -1: a signal has ended it */
    int signal;   /* that signal; 0: none */
    char how[32]; /* "exit status 3", "signal 9" */
};

/* Waits for the process's end.  Its id stays taken until supervisor_close(), so
 * that no signal can reach another process.  Any thread. */
void supervisor_end(const struct supervised *s, struct supervised_end *out);

/* Kills the process unless it has ended, and frees what is kept of it. */
void supervisor_close(struct supervised *s);

/* ---- what it was at ---- */

/* Whether it is the one that the lock file beside the log tells of. */
bool supervisor_is_writer(const struct supervised *s,
                          const struct lockfile *lock);

/* What a worker was at, as its slot tells, which is not 0: "at command 7",
 * "being saved", "being loaded".  Returns `text`. */
const char *supervisor_work(uint64_t slot, char *text, size_t size);

/* ---- the one of an earlier process ---- */

/* Records in the folder of its log which process it is; before anything is
 * sent to it. */
void supervisor_record(const struct supervised *s, const char *folder);

/* Waits until the one that an earlier process recorded there, or that has the
 * lock, has ended; its input is closed already.  -1: it does not. */
int supervisor_await_earlier(const char *folder, struct err *err);

#endif
