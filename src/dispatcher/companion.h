/* SPDX-License-Identifier: MIT */
/* companion.h - a tuner or an assessor that is a program (`exec`), as the main
 * thread's second peer: its process and two pipes (program.h), the proxy that
 * stands for it (proxy.h), and the clock on both.  PROTOCOL.md, "Programs".
 *
 * What a program sends is an input like the manager's: numbered, logged, then
 * handled by its proxy.  So are its silence, where an answer is owed, and its
 * end.  All of a session's companions, at most one a side, are served together
 * by the main thread's loop. */
#ifndef DISPATCHER_COMPANION_H
#define DISPATCHER_COMPANION_H

#include "dispatcher/emission.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain;
struct companions;
struct err;
struct gauge;
struct log;
struct logwriter;
struct side;

/* What the loop lends its companions. */
struct companion_host {
    uint64_t *arrivals;  /* the number of the last input */
    struct gauge *gauge; /* the commands' bytes are subtracted from it */
    size_t max_queued;   /* bytes; above it the program is not read from */
    size_t max_payload;  /* of a program's frame */
    int64_t grace_ms;    /* how long a stop may take */
    const char *folder;  /* where programs run; NULL: here */
    /* In their environment, struct program_told; NULL: not there. */
    const char *direction, *objectives, *judged;
    const struct log *log;
    /* Writes the command log; false: it cannot be written for now and what was
     * recorded waits, or the log and with it the session has failed. */
    bool (*flush)(void *ctx);
    /* Bytes that the manager has yet to read. */
    size_t (*unread)(const void *ctx);
    /* Ends the session because of a proxy.  Of several failures the first is
     * told. */
    void (*fail)(void *ctx, const struct err *err);
    void *ctx;
};

/* Makes the companions of those sides that are programs.  begins: their
 * programs are started at once; in a session that goes on a program is started
 * when it is needed.  NULL: err tells. */
struct companions *companions_new(const struct companion_host *host,
                                  struct side *const sides[2], bool begins,
                                  struct err *err);
/* Kills the programs that still run. */
void companions_free(struct companions *cs);

/* Lends the command log, once it is open: called before anything below. */
void companions_log_to(struct companions *cs, struct logwriter *commandlog);
/* Makes it an input that the programs ended with the dispatcher before this
 * one, whose session goes on. */
void companions_leave(struct companions *cs);

/* Whether a program is that side; it is then given the commands, which are
 * freed. */
bool companions_tell(struct companions *cs, enum sender side,
                     struct chain *chain);

/* ---- the loop's ---- */

#define COMPANIONS_FDS 6

/* Fills fds[COMPANIONS_FDS] with what the programs wait for; returns how
 * many. */
size_t companions_poll(const struct companions *cs, struct pollfd *fds);
/* Behind poll(2): reads, writes and looks at the deadlines. */
void companions_serve(struct companions *cs, const struct pollfd *fds);
/* When companions_serve() is due next, on the monotonic clock; 0: never. */
int64_t companions_next_ns(const struct companions *cs);
/* Bytes that programs have yet to read, or to answer. */
size_t companions_bytes(const struct companions *cs);

/* Behind a log that could not be written: the input that waited for it takes
 * effect; or, in a stop, was never read. */
void companions_go_on(struct companions *cs);
void companions_take_back(struct companions *cs);

/* ---- the stop's ---- */

/* From now on what programs send is ignored. */
void companions_terminate(struct companions *cs);
/* Asks programs that owe no answer to end; true when all have ended. */
bool companions_end(struct companions *cs);
/* Kills, with a warning, the programs that did not end within the grace; true
 * when one still owed an answer. */
bool companions_kill(struct companions *cs);

#endif
