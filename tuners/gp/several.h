/* SPDX-License-Identifier: MIT */
/* several.h - several costs, and limits on results, by the processes of gp.h:
 * either each cost has one, and a trial is where it is expected to add most to
 * the hypervolume that the results dominate (volume.h); or for each trial the
 * costs of all results become one number, under weights that are drawn anew
 * (J. Knowles, "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation
 * for Expensive Multiobjective Optimization Problems", 2006).
 *
 * Points are as in gp.h; less of a cost is better.  One thread. */
#ifndef TUNERS_GP_SEVERAL_H
#define TUNERS_GP_SEVERAL_H

#include "gp/gp.h"

#define SEVERAL_COSTS_MAX 8
#define SEVERAL_GROWTH 64 /* gp_options.growth: values keep changing */

enum several_rule {
    SEVERAL_NONE, /* the one cost of a result is its value, without more ado */
    SEVERAL_WEIGHTS,
    SEVERAL_VOLUME, /* gp_options.n_values costs, VOLUME_COSTS_MAX at most */
};

/* With rule NONE nothing but gp is used; else the value of each of its results
 * is 0 between two calls. */
struct several {
    struct gp *gp;
    enum several_rule rule;
    size_t n_costs;
    /* Of each result of gp's, in its order: */
    double *costs; /* n_costs; NaN: it has none */
    double *violations;
    size_t n, room;
    size_t *front; /* the results that no other one dominates */
    size_t n_front;
    double weights[SEVERAL_COSTS_MAX]; /* of the last trial, for people */
    double *lent;                      /* n_costs a result: see gp.h */
};

/* Takes gp, which knows nothing yet.  NULL: out of memory. */
struct several *several_new(struct gp *gp, enum several_rule rule,
                            size_t n_costs);
void several_free(struct several *p);

/* Fills x for the trial `id`.  -1: out of memory, as below. */
int several_ask(struct several *p, uint64_t id, double *x);

/* A result; `violation`: how far it is beyond limits, 0: within all.  One with
 * a cost or a violation that is not finite is a failure; costs may be NULL,
 * when it was stopped. */
int several_tell(struct several *p, uint64_t id, const double *x,
                 enum gp_class class, const double *costs, double violation);

/* As gp_lost(). */
int several_lost(struct several *p, uint64_t id, const double *x, bool counts,
                 enum gp_class class);

/* The gain of each point, under equal weights; as gp_score(). */
int several_score(struct several *p, const double *const *points, size_t n,
                  double *out);

void several_save(const struct several *p, const struct tp_sink *sink);

/* Right after several_new().  NULL, or what was wrong; then it may only be
 * freed. */
const char *several_load(struct several *p, const struct tp_source *source);

#endif
