/* SPDX-License-Identifier: MIT */
/* asha.h - asynchronous successive halving: L. Li, K. Jamieson, A.
 * Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht, A. Talwalkar, "A
 * System for Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm
 * 2, and its stopping variant, as in Ray Tune, Syne Tune and Optuna.
 *
 * A configuration is a point that is tried.  What it may use, its resource, is
 * counted in intermediate results.  Rung k of bracket s is at the level
 * min_budget * eta^(s + k); the last is at max_budget.  A result enters a rung
 * when its trial reaches the level.
 *
 * - Promoting: trials end at the level of their rung.  Asked for a trial, the
 *   best in the top 1/eta of the highest rung that has such a one goes on to
 *   the next level; there is none: a new configuration begins.
 * - Stopping: trials are given max_budget.  One that is not in the top 1/eta
 *   of those that have reached its rung, itself included, is stopped there.
 *   While less than eta have, it goes on if it is the best so far (Optuna).
 *
 * With several costs `best` and `top` are by front and crowding: rung.h.
 *
 * Nothing waits for anything: a straggler's result counts when it comes.
 *
 * What is done with a configuration:
 *
 *   out --level--> recorded --ended--> waiting --asked--> out, in the next rung
 *    |                |                   |
 *    +- ended first --+- failed ----------+- never: released, or for good
 *
 * Memory: 36 bytes a result in a rung, of which there are at most
 * eta / (eta - 1) a configuration; for each configuration that is out or waits
 * 32 and 8 a dimension, and 24 while it is out; up to twice that while a table
 * has room to grow.  A call is O(log n).
 *
 * One thread; knows no plugin interface.  -1 is always: out of memory. */
#ifndef ASHA_ASHA_H
#define ASHA_ASHA_H

#include "asha/rung.h"

struct tp_sink;
struct tp_source;

#define ASHA_NO_ID (~(uint64_t)0)
#define ASHA_LEVELS_MAX 64
#define ASHA_COSTS_MAX 8

struct asha_options {
    uint64_t min_budget, max_budget; /* 1 <= min <= max, intermediate results */
    uint64_t eta;                    /* 2 or more */
    size_t brackets;                 /* 1 to the number of levels */
    bool promotes;                   /* else it stops */
    uint64_t configs;                /* so many and no more; 0: any number */
};

/* One that is out or waits, in a pool. */
struct asha_config {
    uint64_t first; /* the trial with which it began */
    double loss;    /* promoted: its result in the rung below, of several
                       costs its place there, the best being 0 */
    uint32_t next;  /* free: the next free place, or RUNG_NONE */
    uint32_t entry; /* in its rung, or RUNG_NONE: has not got there */
    uint8_t bracket;
    uint8_t rung; /* that it makes for */
    uint8_t is_used;
    uint8_t is_stopped;
};

struct asha_out {
    uint64_t id;
    uint64_t from;   /* promoted: the trial it goes on from; or ASHA_NO_ID */
    uint32_t config; /* RUNG_NONE: has ended */
};

struct asha_bracket {
    size_t n_rungs;
    struct rung rungs[ASHA_LEVELS_MAX];
    /* Promoting only: trials on their way to a rung, and whether nothing comes
     * into it any more. */
    uint64_t out[ASHA_LEVELS_MAX];
    bool closed[ASHA_LEVELS_MAX];
    uint64_t begun; /* configurations */
    double share;
};

struct asha {
    struct asha_options options;
    size_t n_costs; /* of a result; 0: it is one loss.  To be set before the
                       first asha_space() */
    size_t n_dims;
    uint64_t levels[ASHA_LEVELS_MAX]; /* rising; bracket s begins at s */
    size_t n_levels;
    struct asha_bracket *brackets;
    uint64_t begun; /* configurations */
    struct asha_config *pool;
    double *x; /* n_dims a place; promoting only */
    size_t n_pool, room_pool;
    uint32_t free;         /* the first free place, or RUNG_NONE */
    struct asha_out *outs; /* by id */
    size_t n_outs, room_outs, n_ended;
    uint64_t *released; /* to be told, last in first out */
    size_t n_released, room_released;
    const double *costs; /* of what is being reported, where there are several:
                            asha_lend() */
    double violation;
};

enum asha_answer { ASHA_NEW, ASHA_PROMOTED, ASHA_LATER, ASHA_DONE };

struct asha_suggestion {
    size_t bracket, rung; /* that it makes for */
    uint64_t budget;      /* intermediate results, in all */
    uint64_t first;       /* the trial with which its configuration began */
    uint64_t from;        /* PROMOTED: the trial it goes on from */
    double loss;          /* PROMOTED: its result in the rung below */
};

enum asha_verdict { ASHA_GO, ASHA_STOP, ASHA_PAUSE, ASHA_FINISH };

struct asha_judgement {
    size_t bracket, rung;
    bool is_recorded; /* it has just entered that rung: */
    uint32_t entry;
    double cut; /* loss of the last one in the top; NaN: there is none, or
                   there are several costs */
};

/* The levels for these options (but brackets); how many there are. */
size_t asha_levels(const struct asha_options *o, uint64_t *levels);

/* NULL when out of memory. */
struct asha *asha_new(const struct asha_options *options);
void asha_free(struct asha *a);

/* A new space: all begins anew, nothing is out; those that waited are to be
 * released. */
int asha_space(struct asha *a, size_t n_dims);

/* For a new id, higher than those before, or again for one that is out: the
 * same answer then.  An enum asha_answer, or -1.  x is filled for PROMOTED
 * alone: of a NEW one the caller chooses it. */
int asha_ask(struct asha *a, uint64_t id, double *x,
             struct asha_suggestion *out);

/* Where there are several costs: those of what is reported next, lent until
 * then, and how far it is beyond limits; `loss` is then not looked at.  NULL:
 * it has none, and is worse than all. */
void asha_lend(struct asha *a, const double *costs, double violation);

/* Trial `id`, which is tried at x, has used so many intermediate results.
 * Less is better.  An enum asha_verdict, or -1. */
int asha_report(struct asha *a, uint64_t id, const double *x, uint64_t used,
                double loss, struct asha_judgement *out);

/* Its final result; ASHA_GO when it is not out. */
int asha_final(struct asha *a, uint64_t id, const double *x, double loss,
               struct asha_judgement *out);

/* `is_whole`: it was ended as it should be, and can go on from where it is. */
int asha_ended(struct asha *a, uint64_t id, bool is_whole);

/* The trial with which the configuration of `id` began, or ASHA_NO_ID when
 * it is not out. */
uint64_t asha_first(const struct asha *a, uint64_t id);

/* A trial from whose checkpoint nobody goes on any more; false: no other. */
bool asha_released(struct asha *a, uint64_t *id);

static inline struct rung *
asha_rung(const struct asha *a, size_t bracket, size_t rung)
{
    return &a->brackets[bracket].rungs[rung];
}

/* Whether it makes for max_budget. */
static inline bool
asha_is_last(const struct asha *a, const struct asha_config *c)
{
    return c->rung + 1u == a->brackets[c->bracket].n_rungs;
}

static inline uint64_t
asha_level(const struct asha *a, size_t bracket, size_t rung)
{
    return a->levels[bracket + rung];
}

/* Rungs and configurations, as values in a row. */
void asha_save(const struct asha *a, const struct tp_sink *sink);

/* After asha_space().  NULL, or what was wrong; then a may only be freed. */
const char *asha_load(struct asha *a, const struct tp_source *source);

#endif
