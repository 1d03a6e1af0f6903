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

struct dispatcher_left;
struct err;
struct explainer;
struct log;
struct plugin_paths;
struct record;
struct session;

/* What is left when a walk has ended without a difference. */
struct replay_rest {
    struct session *session;
    struct pending pending; /* derived, and not in the log */
    /* Handled behind a failure, though no record says that they were left: to
     * be freed. */
    struct dispatcher_left *lost;
    size_t n_lost, lost_cap;
    uint32_t head_sum; /* of the log, for its snapshots */
    int digits;        /* of the frames */
    size_t max_payload;
};

struct replay_bar {
    enum sender side;
    uint64_t arrival;
};

struct replay_setup {
    const char *path; /* of the log */
    /* Begin with the newest snapshot that is whole, for who wants the end
     * only; else as far back as the log goes, which is behind a snapshot when
     * its first segments were dropped. */
    bool from_snapshot;
    const struct plugin_paths *paths;
    const struct log *log; /* for the lines the handlers write */
    const struct log *say; /* for what becomes of snapshots; NULL: log */
    /* Called with each frame that replay derives; NULL: nobody. */
    void (*derived)(void *ctx, const struct emission *e);
    /* The arrival number of the last input that is handled; 0: all are.  A
     * log that ends before it is an error (ERR_USAGE).  Only frames whose
     * cause was handled are compared. */
    uint64_t until;
    /* Called with each record up to there, before it is handled or compared;
     * NULL: nobody.  -1 ends the replay with its err. */
    int (*next)(void *ctx, const struct record *record, struct err *err);
    /* Called once, when the last input has been handled: the session is as it
     * was then, and lent for the call.  NULL: nobody.  -1 as above. */
    int (*reached)(void *ctx, struct session *session, struct err *err);
    void *ctx;
    /* Who is told why; NULL: nobody. */
    const struct explainer *explainer;
    /* Begin slots, by sender, kept as a dispatcher's workers keep them; NULL:
     * none are. */
    _Atomic uint64_t *const *slots;
    /* Filled, and the caller's, instead of freed; NULL: freed. */
    struct replay_rest *rest;
    /* Arrival numbers that are handled with calls that fail, by sender. */
    const struct replay_bar *bars;
    size_t n_bars;
};

struct replay_report {
    uint64_t commands;   /* inbound frames walked */
    uint64_t last;       /* arrival number of the last input walked */
    uint64_t causes;     /* of them, those whose frames were compared */
    uint64_t frames;     /* compared and equal */
    uint64_t uncompared; /* frames of skipped commands, and errors (ER) */
    uint64_t unsent;     /* derived, but the session ended before the log had
                            them: no difference in a log without an end */
    uint64_t torn_bytes; /* cut from the end of the log */
    uint64_t restored;   /* arrival number of the last input that was not
                            handled, because a snapshot had it; 0: none */
    bool ended;          /* the log has its end record */
};

/* 0: no difference.  -1: err tells the first one (ERR_INPUT), or why the log
 * could not be walked (other codes); the report is filled as far as it
 * went. */
int replay_run(const struct replay_setup *setup, struct replay_report *report,
               struct err *err);

#endif
