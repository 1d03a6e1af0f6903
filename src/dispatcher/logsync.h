/* SPDX-License-Identifier: MIT */
/* logsync.h - a thread that puts a command log on stable storage, so that a
 * slow disk does not hold up the loop.
 *
 * One request at a time.  All calls are the reader's thread's. */
#ifndef DISPATCHER_LOGSYNC_H
#define DISPATCHER_LOGSYNC_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

struct err;
struct logio;
struct logsync;
struct wake;

/* `wake` is signalled when a request is done.  All three are borrowed. */
struct logsync *logsync_start(int fd, const struct logio *io,
                              const struct wake *wake, struct err *err);
/* Waits for a request that is under way. */
void logsync_stop(struct logsync *s);

/* What is to be on stable storage: the bytes from `from`, which begins a
 * record, to `upto`, which ends one. */
struct logsync_job {
    off_t from, upto;
    bool again; /* an earlier try failed: the bytes are written once more,
                   for the system may have forgotten that they were not */
};

/* Nothing is under way. */
void logsync_ask(struct logsync *s, const struct logsync_job *job);

enum logsync_word { LOGSYNC_NOTHING, LOGSYNC_DONE, LOGSYNC_FAILED };
/* What became of the last request, once; *error is an errno. */
enum logsync_word logsync_take(struct logsync *s, struct logsync_job *job,
                               int *error);

/* In place of an errno: what was to be written again is not there any more. */
#define LOGSYNC_LOST EBADMSG

/* The same at once, in the caller's thread: 0 or an errno. */
int logsync_now(int fd, const struct logio *io, const struct logsync_job *job);

#endif
