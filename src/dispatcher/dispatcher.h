/* SPDX-License-Identifier: MIT */
/* dispatcher.h - the whole flow on its threads.
 *
 *  fd in  -> frame -> number -> log -> router -+-> default queue  -> worker
 *                                              +-> assessor queue -> worker
 *                                                                       |
 *  fd out <- log <- outbox <- emission <- handler <- plugin <-----------+
 *
 * Thread map
 *   main       reads, decodes, numbers, logs, routes; logs and writes what is
 *              in the outbox; takes snapshots (snapshotting.h).  Owns channel,
 *              router with its marks, command log.  Calls no plugin.
 *   default    drains the default queue; owns tuning: tuner, search space,
 *              trial table, owed ids.
 *   assessor   drains the assessor queue; owns assessing: assessor, histories.
 *              Idle beside an advisor: a tuner that looks at intermediate
 *              results gets all there is, in the order of arrival.
 *   syncing    puts the command log on stable storage when it is asked to.
 *   snapshot   writes what main and the workers packed, retires old segments.
 *   Shared: the queues, the outbox, the gauge, the begin slots, wake.
 *
 * A tuner or an assessor that is a program (companion.h) gives its worker
 * nothing to do: its side is the main thread's, and its pipes are in the same
 * loop. */
#ifndef DISPATCHER_DISPATCHER_H
#define DISPATCHER_DISPATCHER_H

#include "core/log_policy.h"
#include "dispatcher/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct logwriter;
struct emission;
struct log;
struct logio;
struct session;
struct wake;

#define DISPATCHER_LOG_RETRY_MS 1000

/* A session that goes on, in the state in which its log ended. */
struct dispatcher_resume {
    struct session *session; /* taken */
    struct logwriter *log;   /* taken */
    uint64_t arrivals;       /* number of the last input */
    uint64_t frames;         /* frames of the manager's among those inputs */
    uint64_t owed, trials;   /* as in recovery.h */
    bool spaceless;          /* as in recovery.h */
    const char *words;       /* for the log: what was recovered */
    bool unsavable[2]; /* by sender: saving that side's state has ended the
                          process before */
    uint32_t head_sum; /* checksum of the log's head, which its snapshots have,
                          too */
    /* Commands that are handled with failing calls, as they ended the process
     * before; the text as the log has it: "xt why". */
    const struct dispatcher_skip *skips;
    size_t n_skips;
    /* Commands that a failed side left, as the log does not say yet. */
    const struct dispatcher_left *left;
    size_t n_left;
    /* Frames that follow from the log and are not in it. */
    const struct emission *const *missing;
    size_t n_missing;
};

struct dispatcher_left {
    enum sender side;
    uint64_t arrival;
};

struct dispatcher_skip {
    uint64_t arrival;
    const char *text;
};

struct dispatcher_setup {
    /* Its digits may be FRAME_DIGITS_DETECT: those of the first header, and the
     * session is not begun before that came. */
    struct session_setup session;
    int in_fd, out_fd;
    const char *folder; /* of the command log; NULL: none is kept */
    struct sync_policy sync;
    struct segment_policy segments;
    int64_t log_retry_ms; /* between two tries to write a log that cannot be
                             written */
    const struct logio *log_io; /* NULL: the system's */
    size_t max_queued;          /* bytes; above it nothing is read */
    int64_t grace_ms;           /* how long a stop may take */
    const struct log *log;
    const struct dispatcher_resume *resume; /* NULL: a new session */
    /* Signalled when another dispatcher wants the log, for a process that
     * stands between us and the manager (the bridge): it closes our input where
     * the manager is gone.  NULL: we see the manager's end ourselves. */
    const struct wake *wanted;
    /* Called on the calling thread when everything is loaded and reading
     * begins; may be NULL. */
    void (*begun)(void *ctx, const struct session *session);
    void *begun_ctx;
};

/* How a session ended; PROTOCOL.md, "Holding and stopping". */
enum dispatcher_end {
    DISPATCHER_END_OF_FILE, /* the manager closed its end */
    DISPATCHER_TERMINATED,  /* TE */
    DISPATCHER_SIGNALLED, /* by the signal *signal_number of dispatcher_run() */
    DISPATCHER_FAILED,    /* err tells why, its code what kind of failure */
    DISPATCHER_GRACE_OVER, /* a plugin was still computing; the caller must
                              end the process without waiting for it */
};

/* Runs a session to its end; blocks, and takes over the stop signals
 * (core/stop_signals.h).  *signal_number is set for DISPATCHER_SIGNALLED. */
enum dispatcher_end dispatcher_run(const struct dispatcher_setup *setup,
                                   int *signal_number, struct err *err);

#endif
