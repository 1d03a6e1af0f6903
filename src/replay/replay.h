/* SPDX-License-Identifier: MIT */
/* replay.h - walks a command log with the same router, handlers and plugins,
 * on one thread, and compares what they answer with what was answered.
 *
 * Compared is, per cause (the inbound command) and sender (one of the two
 * workers), the complete ordered list of frames; how the frames of the two
 * workers were interleaved is recorded, not promised.  What the log says was
 * skipped is skipped; its frames are not compared. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "dispatcher/emission.h"
#include "replay/pending.h"

#include <stdbool.h>
#include <stdint.h>

struct lockslot;

struct dispatcher_left;
struct err;
struct explainer;
struct log;
struct plugin_paths;
struct record;
struct session;

/* What a walk leaves that ended without a difference. */
struct replay_rest {
    struct session *session;
    /* Frames that were derived and are not in the log. */
    struct pending pending;
    /* Commands that were handled behind a failure, though no record says that
     * they were left: to be freed. */
    struct dispatcher_left *lost;
    size_t n_lost, lost_cap;
    uint32_t head_sum; /* checksum of the log's head, which its snapshots have,
                          too */
    int digits;        /* length field of the frames */
    size_t max_payload;
};

struct replay_bar {
    enum sender side;
    uint64_t arrival;
};

struct replay_setup {
    const char *path; /* of the log */
    /* Begins with the newest whole snapshot, for callers that want the final
     * state alone; else as far back as the log goes, which is behind a snapshot
     * when its first segments were dropped. */
    bool from_snapshot;
    const struct plugin_paths *paths;
    const struct log *log; /* for the lines the handlers write */
    const struct log *say; /* gets lines about snapshots; NULL: `log` does */
    /* Called with each frame that replay derives; NULL: nobody. */
    void (*derived)(void *ctx, const struct emission *e);
    /* The arrival number of the last input that is handled; 0: all are.  A
     * log that ends before it is an error (ERR_USAGE).  Only frames whose
     * cause was handled are compared. */
    uint64_t until;
    /* Called with each record up to there, before it is handled or compared;
     * NULL: nobody.  -1 ends the replay with its err. */
    int (*next)(void *ctx, const struct record *record, struct err *err);
    /* Called once, when the last input was handled: the session is as it was
     * then, and lent for the call.  NULL: nobody.  -1 ends the replay with its
     * err. */
    int (*reached)(void *ctx, struct session *session, struct err *err);
    void *ctx;
    /* Is told why answers are what they are; NULL: nobody. */
    const struct explainer *explainer;
    /* The workers' slots of the lock file, by sender, kept as a dispatcher's
     * workers keep them; NULL: there are none. */
    const struct lockslot *const *slots;
    /* Receives the session and the rest, which are then the caller's; NULL:
     * they are freed. */
    struct replay_rest *rest;
    /* Inputs that are handled with calls that fail, by sender. */
    const struct replay_bar *bars;
    size_t n_bars;
};

struct replay_report {
    uint64_t commands;   /* inbound frames walked */
    uint64_t last;       /* arrival number of the last input walked */
    uint64_t causes;     /* commands whose frames were compared */
    uint64_t frames;     /* frames that were compared, and equal */
    uint64_t uncompared; /* frames of skipped commands, and errors (ER) */
    /* Frames that were derived, but the session ended before the log had them:
     * no difference in a log without an end. */
    uint64_t unsent;
    uint64_t torn_bytes; /* how many were cut from the end of the log */
    uint64_t restored;   /* number of the last input that was not handled, as a
                            snapshot had its effect; 0: none */
    bool ended;          /* the log has its end record */
};

/* Replays a log.  0: no difference.  -1: err tells the first one (ERR_INPUT),
 * or why the log could not be walked (other codes); the report is filled as far
 * as the walk came. */
int replay_run(const struct replay_setup *setup, struct replay_report *report,
               struct err *err);

#endif
