/* SPDX-License-Identifier: MIT */
/* standing.h - a session's state behind some input (`tunepipe log --at`),
 * derived by replaying its log up to there.  One thread. */
#ifndef REPLAY_STANDING_H
#define REPLAY_STANDING_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct plugin_paths;

/* A trial that was given out and has not ended, or has reported and not
 * ended. */
struct standing_trial {
    char *parameter; /* parameter_id; NULL: a trial that the user added */
    char *job;       /* trial_job_id; NULL: it has not reported yet */
    uint64_t number; /* by which trials are ordered */
    uint64_t attempt;
    bool out;     /* given out, and not ended as far as the tuner knows */
    bool told;    /* the tuner knows its result */
    bool stopped; /* its KI has been written */
    bool has_latest;
    struct mark latest;
};

/* A run of consecutive ids. */
struct standing_run {
    uint64_t first, count;
};

/* Answers to one input that the log has behind the next input, or lacks. */
struct standing_pending {
    uint64_t cause;
    char code[3]; /* code of the input; "" where it is a program's */
    uint64_t frames;
};

struct standing_list {
    struct standing_pending *at;
    size_t n, cap;
};

struct standing {
    uint64_t at; /* the arrival number of the last input */
    int64_t time_us;
    /* The last input's code and payload; NULL: it is a program's. */
    char *input;

    bool has_space;
    uint64_t next_id;
    uint64_t finished;   /* trials that had their result and their end */
    uint64_t resultless; /* trials that ended without a result, which may still
                            come */
    uint64_t kills;      /* trials stopped so far */

    struct standing_trial *trials; /* by parameter_id */
    size_t n_trials, trials_cap;
    struct standing_run *owed; /* in the order in which they are served */
    size_t n_owed, owed_cap;
    struct standing_list pending[2]; /* by sender: tuner, assessor */
};

struct standing_setup {
    const char *path; /* of the log */
    uint64_t at;      /* number of an input; 0: the log's last one */
    const struct plugin_paths *paths;
    const struct log *log;
};

/* Derives the state.  -1: err tells, as replay_run() does.  standing_fini() is
 * to be called in any case. */
int standing_run(const struct standing_setup *setup, struct standing *out,
                 struct err *err);
void standing_fini(struct standing *s);

#endif
