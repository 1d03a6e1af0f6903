/* SPDX-License-Identifier: MIT */
/* points.h - what a tuner was told: every point with what became of it, and
 * the results from the best to the worst.
 *
 * Complete results come first, by value; then those of trials that were
 * stopped early, which are censored: who got further comes first.  What failed
 * or has no number is known and has no rank.  One thread. */
#ifndef TUNERS_TPE_POINTS_H
#define TUNERS_TPE_POINTS_H

#include "tpe/axis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum point_state {
    POINT_OPEN,    /* suggested, nothing is known */
    POINT_DONE,    /* has a complete result */
    POINT_STOPPED, /* has a censored one */
    POINT_FAILED,  /* was tried, and has none */
    POINT_GONE     /* not tried, as far as is known */
};

struct point {
    uint64_t id;   /* POINTS_NO_ID: from elsewhere */
    double loss;   /* DONE, STOPPED: smaller is better */
    uint64_t step; /* STOPPED */
    enum point_state state;
    uint32_t row; /* DONE, STOPPED: of several costs, see several.h */
};

#define POINTS_NO_ID (~(uint64_t)0)

struct points {
    uint64_t
        asked; /* the id that a point was last asked for, POINTS_NO_ID: none */
    uint32_t again; /* how often it was asked for before */
    size_t n, capacity, n_dims;
    struct point *all; /* in the order in which they came */
    double *x;         /* n_dims a point, internal; NaN: inactive */
    double *at;        /* the same as coordinates of the axes */
    uint32_t *ranked;  /* DONE and STOPPED, the best first */
    size_t n_done, n_stopped, n_open, n_failed;
    uint32_t *by_id; /* points with an id, by it */
    size_t n_ids;
};

struct tp_sink;
struct tp_source;

void tpe_points_init(struct points *p, size_t n_dims);
void tpe_points_fini(struct points *p);

/* A point is asked for. */
void tpe_points_ask(struct points *p, uint64_t id);

/* The index of the point with that id, or p->n. */
size_t tpe_points_find(const struct points *p, uint64_t id);

/* A new point, open; its index is p->n as it was.  -1: out of memory. */
int tpe_points_add(struct points *p, const struct axis *axes, uint64_t id,
                   const double *x);

/* Other coordinates for a point. */
void tpe_points_move(struct points *p, const struct axis *axes, size_t i,
                     const double *x);

/* What became of point i. */
void tpe_points_set(struct points *p, size_t i, enum point_state state,
                    double loss, uint64_t step);

/* A result came of point i; a loss that is not finite is a failure. */
void tpe_points_tell(struct points *p, size_t i, bool stopped, double loss,
                     uint64_t step);

/* Trial `id` ended, perhaps without a result: `tried` it was a failure, else
 * nothing is known of its point. */
void tpe_points_ended(struct points *p, uint64_t id, bool tried);

/* A point as others have it, the latest of all; its id is new.  -1: out of
 * memory. */
int tpe_points_copy(struct points *p, const struct axis *axes,
                    const struct point *point, const double *x);

/* What was asked for, the points and what became of them. */
void tpe_points_save(const struct points *p, const struct tp_sink *sink);

/* Reads what tpe_points_save() wrote into p, which has no points; each is given
 * to `copy`, which puts it there.  NULL, or what is wrong. */
typedef int tpe_points_copier(void *ctx, const struct point *point,
                              const double *x);
const char *tpe_points_load(struct points *p, const struct axis *axes,
                            const struct tp_source *source,
                            tpe_points_copier *copy, void *ctx);

static inline const double *
tpe_points_at(const struct points *p, size_t i)
{
    return p->at + i * p->n_dims;
}

static inline size_t
tpe_points_ranked(const struct points *p)
{
    return p->n_done + p->n_stopped;
}

#endif
