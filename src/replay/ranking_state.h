/* SPDX-License-Identifier: MIT */
/* ranking_state.h - what the files of ranking.h share.  Internal to them. */
#ifndef REPLAY_RANKING_STATE_H
#define REPLAY_RANKING_STATE_H

#include "core/buf.h"
#include "core/log.h"
#include "core/map.h"
#include "log/record.h"
#include "replay/ranking.h"

struct command;
struct tuner;

struct ranking_walk {
    const struct ranking_setup *setup;
    struct ranking *out;
    struct log_reader *file;
    struct json *head;
    struct log silent; /* the router said all of it when it was recorded */
    struct router *router;
    struct buf text; /* of the recorded frame in hand: a name in it */
    struct tuner *tuner;
    struct space *space;
    uint64_t seed;
    bool nni;         /* the manager is NNI's ... */
    bool again;       /* ... and was started again: what FD comes then is, all
                         but some, what was said before */
    struct map ids;   /* parameter_id as JSON -> its number + 1 */
    size_t n_results; /* trials with a result so far: they come first */
    size_t best;      /* its number + 1; 0: none */
    bool best_is_told;
    uint64_t asked;  /* ids of suggestions of its own */
    double *x, *y;   /* points, n_dims long */
    double *samples; /* RANKING_SAMPLES points of the prior */
    const double *points[RANKING_SAMPLES + 1];
    double scores[RANKING_SAMPLES + 1];
};

int ranking_no_memory(struct err *err);

/* The trial of this parameter_id; NULL: none is known. */
struct ranking_trial *ranking_find(const struct ranking_walk *w,
                                   const char *key);

/* The trials, what they were given and what came of them, of which the best. */
int ranking_collect(struct ranking_walk *w, struct err *err);

/* The trial's first final result; that of another job, or behind its end, which
 * the tuner was told, too, is found by the walk alone.  -1: out of memory. */
int ranking_final(struct ranking_walk *w, struct ranking_trial *t,
                  const char *job, double value);

/* A search space, a trial's final result, imported results:
 * what they mean to the tuner. */
int ranking_space(struct ranking_walk *w, const struct command *cmd,
                  struct err *err);
int ranking_result(struct ranking_walk *w, struct ranking_trial *t,
                   struct err *err);
int ranking_import(struct ranking_walk *w, const struct command *cmd,
                   struct err *err);

#endif
