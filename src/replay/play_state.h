/* SPDX-License-Identifier: MIT */
/* play_state.h - what play.c, which converses with a program, and
 * play_judge.c, which compares, share.  Internal to them. */
#ifndef REPLAY_PLAY_STATE_H
#define REPLAY_PLAY_STATE_H

#include "core/map.h"
#include "dispatcher/program.h"
#include "replay/play.h"
#include "replay/script.h"

#define PLAY_LINES_MAX ((size_t)1 << 20) /* bytes */

/* A TR that came. */
struct play_trial {
    char *payload, *id; /* id: as JSON */
    size_t len;
};

/* What came for a trial. */
struct play_job {
    bool killed, recorded; /* recorded: the log has a KI, too */
    bool paused;
    size_t acks;
};

struct play {
    const struct play_setup *setup;
    struct play_report *report;
    struct script script;
    struct script_answer **recorded[CMD_COUNT]; /* TR and NO by number */
    struct program program;
    struct play_trial *trials;
    size_t n_trials, trials_cap;
    struct map ids, jobs;
    size_t at; /* the next step */
    int64_t moved_ns;
    bool silent; /* it was, for longer than the deadline */
    bool failed; /* out of memory */
};

/* Counts a difference and keeps its line. */
void play_differ(struct play *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What came for the trial of that name; NULL: out of memory. */
struct play_job *play_job(struct play *p, const char *name);

/* The n-th frame of that code (from 0) names `key` (NULL: nothing). */
void play_compare_id(struct play *p, enum command_code code, size_t n,
                     const char *key);

/* Queues the frame, with the id that the program gave. */
void play_send(struct play *p, const struct script_step *step);

/* When nothing comes any more. */
void play_judge(struct play *p);

#endif
