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

/* A session that goes on: as it was when its log ended. */
struct dispatcher_resume {
    struct session *session; /* taken */
    struct logwriter *log;   /* taken */
    uint64_t arrivals;       /* number of the last input */
    uint64_t frames;         /* the manager's among the inputs */
    uint64_t owed, trials;   /* as in recovery.h */
    bool spaceless;          /* as in recovery.h */
    const char *words;       /* for the log: what was recovered */
    bool unsavable[2];       /* by sender: saving that side ended the process
                                before */
    uint32_t head_sum;       /* of the log, for its snapshots */
    /* Commands whose calls failed because they ended the process before, as
     * the log has them: "xt why". */
    const struct dispatcher_skip *skips;
    size_t n_skips;
    const struct emission *const *missing; /* what the log lacks */
    size_t n_missing;
};

struct dispatcher_skip {
    uint64_t arrival;
    const char *text;
};

struct dispatcher_setup {
    struct session_setup session; /* digits may be FRAME_DIGITS_DETECT: the
                                     first header's, and the session is not
                                     begun before it came */
    int in_fd, out_fd;
    const char *folder; /* of the command log; NULL: none is kept */
    struct sync_policy sync;
    struct segment_policy segments;
    int64_t log_retry_ms; /* between tries to write a log that is held up */
    const struct logio *log_io; /* NULL: the system's */
    size_t max_queued;          /* bytes; above it nothing is read */
    int64_t grace_ms;           /* how long a stop may take */
    const struct log *log;
    const struct dispatcher_resume *resume; /* NULL: a new session */
    /* Signalled when another dispatcher wants the log, for who stands between
     * us and the manager: where the manager is gone we are to see an end of
     * file.  NULL: we see it by ourselves. */
    const struct wake *wanted;
    /* Told by the calling thread when all is loaded and what comes in is read
     * from here on; NULL: nobody. */
    void (*begun)(void *ctx, const struct session *session);
    void *begun_ctx;
};

/* How a session ended; PROTOCOL.md, "Holding and stopping". */
enum dispatcher_end {
    DISPATCHER_END_OF_FILE, /* the manager closed its end */
    DISPATCHER_TERMINATED,  /* TE */
    DISPATCHER_SIGNALLED,   /* by *signal_number, see below */
    DISPATCHER_FAILED,      /* err tells, its code says what kind */
    DISPATCHER_GRACE_OVER,  /* a plugin was still computing; the caller must
                               end the process without waiting for it */
};

/* Runs a session to its end.  The stop signals are taken over
 * (core/stop_signals.h). */
enum dispatcher_end dispatcher_run(const struct dispatcher_setup *setup,
                                   int *signal_number, struct err *err);

#endif
