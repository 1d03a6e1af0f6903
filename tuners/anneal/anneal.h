/* SPDX-License-Identifier: MIT */
/* anneal.h - the annealing of Bergstra's hyperopt (hyperopt/anneal.py), which
 * is NNI's Anneal: draw near one of the best trials, ever nearer.
 *
 * With T results that have a dimension, avg_best = 2, shrink = 0.1:
 *
 * - T = 0: a draw of its prior.
 * - Else the base is a trial that this suggestion has gone by already, the
 *   first that has the dimension; if none has, the g-th best of those that
 *   have it, P(g = k) = 2^-(k+1), at most the worst.
 * - s = 1 / (1 + shrink T).  Uniform kinds are drawn uniformly from an
 *   interval of s times their range around the base, moved so that it lies
 *   within the range; normal kinds from normal(base, s sigma); an index is the
 *   base's with probability 1 - s, else any.
 *
 * g comes from 53 random bits and is 53 at most, so no more than the 54 best
 * results are ever looked at, and the rest is counted and forgotten: for each
 * group of dimensions that are active together, because a nested one may be
 * absent from the best of all.
 *
 * Pending points may stand in with a constant lie (as Ginsbourger et al.,
 * "Kriging is well-suited to parallelize optimization", 2010): the least, the
 * greatest or the mean loss so far.
 *
 * Memory: 8 bytes a dimension and 48 more for each of the 54 best trials of
 * each group, whatever the number of trials; with lies as much for each
 * pending point.  An ask costs O(dimensions), with lies O(pending)
 * more for each group.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef ANNEAL_ANNEAL_H
#define ANNEAL_ANNEAL_H

#include "prior/prior.h"

struct tp_sink;
struct tp_source;

#define ANNEAL_NO_ID (~(uint64_t)0)
#define ANNEAL_BEST 54

enum anneal_lie {
    ANNEAL_LIE_NONE, /* pending points are not looked at */
    ANNEAL_LIE_MIN,
    ANNEAL_LIE_MAX,
    ANNEAL_LIE_MEAN
};

struct anneal_point {
    double *x;
    double loss;
    uint64_t order; /* results are counted from 0 */
    uint64_t id;    /* or ANNEAL_NO_ID */
    size_t refs;    /* groups that list it */
};

struct anneal_group {
    size_t first;                           /* its first dimension */
    uint64_t count;                         /* results that have it */
    struct anneal_point *best[ANNEAL_BEST]; /* by loss, then order */
    size_t n_best;

    /* Of one ask. */
    size_t n_stand_ins;              /* pending points that have it */
    const struct anneal_point *base; /* NULL: none yet */
};

struct anneal_pending {
    uint64_t id;
    double *x;
};

/* Members are anneal.c's. */
struct anneal {
    struct prior prior;
    struct prior_random random;
    enum anneal_lie lie;
    struct anneal_group *groups;
    size_t n_groups;
    size_t *group_of;                  /* dimension -> group */
    const struct anneal_point **picks; /* of one ask; room for n_groups */
    struct anneal_point **points;      /* all that are listed, by order */
    size_t n_points, points_cap;
    struct anneal_pending *pending; /* in the order of their asks */
    size_t n_pending, pending_cap;
    struct anneal_point *stand_ins; /* for pending points; scratch */
    uint64_t n_results;             /* that count; losses below are theirs */
    double least, greatest, sum;
};

/* How an answer came about. */
struct anneal_origin {
    uint64_t results; /* of the first dimension */
    uint64_t base;    /* the first trial it went by, or ANNEAL_NO_ID */
    double base_loss;
    size_t rank;   /* of base, 0 is the best */
    bool has_base; /* else all was drawn from the prior */
    bool is_pending;
    double shrink;
};

/* NULL when out of memory. */
struct anneal *anneal_new(enum anneal_lie lie, struct prior_random random);
void anneal_free(struct anneal *a);

/* A new space: everything is forgotten.  Takes what prior holds when it
 * succeeds; -1 when out of memory: nothing has changed. */
int anneal_space(struct anneal *a, struct prior *prior);

/* Fills x.  `again` counts how often this id was asked for before. */
void anneal_ask(struct anneal *a, uint64_t id, uint32_t again, double *x,
                struct anneal_origin *origin);
/* A draw of the prior instead. */
void anneal_random(const struct anneal *a, uint64_t id, uint32_t again,
                   double *x);

/* x was given out for id, in the place of what had been before.  For lies
 * only; -1 when out of memory. */
int anneal_pend(struct anneal *a, uint64_t id, const double *x);
/* It is no longer pending. */
void anneal_unpend(struct anneal *a, uint64_t id);

/* A result; lower is better.  NaN is none.  -1 when out of memory. */
int anneal_tell(struct anneal *a, uint64_t id, const double *x, double loss);

/* Points and pending ones, as values in a row. */
void anneal_save(const struct anneal *a, const struct tp_sink *sink);

/* Right after anneal_space().  NULL, or what was wrong; then it may only be
 * freed. */
const char *anneal_load(struct anneal *a, const struct tp_source *source);

#endif
