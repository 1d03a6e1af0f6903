/* SPDX-License-Identifier: MIT */
/* standing.h - how a session stood when it had handled some input: derived by
 * replaying its log up to there.  One thread. */
#ifndef REPLAY_STANDING_H
#define REPLAY_STANDING_H

#include "command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct plugin_paths;

/* A trial that is out, or lives. */
struct standing_trial {
    char *parameter; /* parameter_id; NULL: the user's own trial */
    char *job;       /* trial_job_id; NULL: it has not reported yet */
    uint64_t number; /* order */
    uint64_t attempt;
    bool out;     /* given out, and not ended for the tuner */
    bool told;    /* the tuner knows its result */
    bool stopped; /* its KI has been written */
    bool has_latest;
    struct mark latest;
};

/* Consecutive ids. */
struct standing_run {
    uint64_t first, count;
};

/* Answers to one input that stand in the log behind the next input, or not at
 * all. */
struct standing_pending {
    uint64_t cause;
    char code[3]; /* of the input; "" of a program's */
    uint64_t frames;
};

struct standing_list {
    struct standing_pending *at;
    size_t n, cap;
};

struct standing {
    uint64_t at; /* the arrival number of the last input */
    int64_t time_us;
    char *input; /* code and payload; NULL: of a program */

    bool has_space;
    uint64_t next_id;
    uint64_t finished;   /* had their result and their end */
    uint64_t resultless; /* ended without a result, which may still come */
    uint64_t kills;      /* trials stopped so far */

    struct standing_trial *trials; /* by parameter_id */
    size_t n_trials, trials_cap;
    struct standing_run *owed; /* in the order in which they are served */
    size_t n_owed, owed_cap;
    struct standing_list pending[2]; /* by sender: tuner, assessor */
};

struct standing_setup {
    const char *path; /* of the log */
    uint64_t at;      /* 0: its last input */
    const struct plugin_paths *paths;
    const struct log *log;
};

/* -1: err tells; as replay_run().  standing_fini() is to be called in any
 * case. */
int standing_run(const struct standing_setup *setup, struct standing *out,
                 struct err *err);
void standing_fini(struct standing *s);

#endif
