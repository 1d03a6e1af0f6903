/* SPDX-License-Identifier: MIT */
/* parego.h - several costs by a Gaussian process of one: for each trial the
 * costs of all results become one number, under weights that are drawn anew,
 * and the process of gp.h suggests where that is expected to improve most.
 *
 * J. Knowles, "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation
 * for Expensive Multiobjective Optimization Problems", 2006.
 *
 * Points are as in gp.h; less of a cost is better.  One thread. */
#ifndef TUNERS_PAREGO_PAREGO_H
#define TUNERS_PAREGO_PAREGO_H

#include "gp/gp.h"

#define PAREGO_COSTS_MAX 8
#define PAREGO_GROWTH 64 /* gp_options.growth, as the weights always change */

struct parego {
    struct gp *gp; /* the value of each result is 0 between two calls */
    size_t n_costs;
    /* Of each result of gp's, in its order: */
    double *costs; /* n_costs; NaN: it has none */
    double *violations;
    size_t n, room;
    size_t *front; /* the results that no other one dominates */
    size_t n_front;
    double weights[PAREGO_COSTS_MAX]; /* of the last trial, for people */
};

/* Takes gp, which knows nothing yet.  NULL: out of memory. */
struct parego *parego_new(struct gp *gp, size_t n_costs);
void parego_free(struct parego *p);

/* Fills x for the trial `id`.  -1: out of memory, as below. */
int parego_ask(struct parego *p, uint64_t id, double *x);

/* A result; `violation`: how far it is beyond limits, 0: within all.  One with
 * a cost or a violation that is not finite is a failure; costs may be NULL,
 * when it was stopped. */
int parego_tell(struct parego *p, uint64_t id, const double *x,
                enum gp_class class, const double *costs, double violation);

/* As gp_lost(). */
int parego_lost(struct parego *p, uint64_t id, const double *x, bool counts,
                enum gp_class class);

/* The gain of each point under equal weights; as gp_score(). */
int parego_score(struct parego *p, const double *const *points, size_t n,
                 double *out);

void parego_save(const struct parego *p, const struct tp_sink *sink);

/* Right after parego_new().  NULL, or what was wrong; then it may only be
 * freed. */
const char *parego_load(struct parego *p, const struct tp_source *source);

#endif
