/* SPDX-License-Identifier: MIT */
/* ranking.h - what another tuner would have made of the recorded trials: it
 * is told their results in the recorded order, and before each of them how it
 * ranks that trial's parameters among samples of the prior.
 *
 * What the log cannot answer: which parameters it would have asked for
 * instead, and what would have come of them.  It is told results alone, as
 * imported ones, final ones only: it never hears what is pending or was
 * stopped.  A tuner without `score` cannot rank; then its own suggestions
 * stand beside the recorded ones.  One thread. */
#ifndef REPLAY_RANKING_H
#define REPLAY_RANKING_H

#include "json.h"
#include "objectives/objectives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKING_SAMPLES 256
#define RANKING_TOP 0.9 /* better than so much of the prior: preferred */

struct err;
struct log;
struct plugin_paths;

struct ranking_setup {
    const char *path; /* of the log */
    const struct plugin_paths *paths;
    const struct log *log; /* for what the tuner says */
    const char *tuner;     /* name or file of a plugin */
    struct jval args;      /* an object, or null */
    uint64_t until;        /* the last input; 0: all */
};

struct ranking_trial {
    char *id;         /* parameter_id as JSON */
    char *parameters; /* as it was given them, JSON */
    char *job;        /* trial_job_id; NULL: it reported nothing final */
    size_t order;     /* 1: its result came first */
    bool has_final;
    double final; /* of several values, what is made of them over the ranges of
                     all final results */
    double values[OBJECTIVES_MAX], violation; /* where there are objectives */
    size_t known_then; /* results there were when it was given out ... */
    size_t known;      /* ... and before its own */
    bool unfit;        /* the result does not fit the search space any more */
    double rank;       /* part of the prior that the tuner likes less, 0..1;
                          NaN: no opinion, or it cannot rank */
    char *own;         /* what it would ask for itself, JSON; NULL: it ranks,
                          or it had no suggestion */
};

struct ranking {
    struct ranking_trial *trials; /* in the order of their results, then those
                                     without one in that they were given out */
    size_t n, cap;
    char *tuner;            /* name, version, seed, arguments, as JSON */
    bool maximize;          /* as the log says */
    const char *scalarized; /* how final values are made of several; NULL: there
                               is one */
    bool against;           /* the tuner's optimize_mode is the other one */
    bool can_rank;          /* the tuner has `score` */
    size_t told, imported;  /* results of trials, and from elsewhere */
    size_t silent;          /* trials without a final result */
    size_t unfit, ranked;
    double mean_rank;                 /* of those ranked; NaN: none */
    const struct ranking_trial *best; /* by final value; NULL: none */
    bool preferred; /* the best one was, up to its result, ... */
    size_t since;   /* ... from so many results on */
};

/* -1: err tells.  ranking_fini() in either case. */
int ranking_run(const struct ranking_setup *setup, struct ranking *out,
                struct err *err);
void ranking_fini(struct ranking *r);

#endif
