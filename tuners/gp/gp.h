/* SPDX-License-Identifier: MIT */
/* gp.h - Bayesian optimization by a Gaussian process: each trial is where the
 * logarithm of the expected improvement is greatest.
 *
 * D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global Optimization of
 * Expensive Black-Box Functions", 1998; S. Ament, S. Daulton, D. Eriksson, M.
 * Balandat, E. Bakshy, "Unexpected Improvements to Expected Improvement for
 * Bayesian Optimization", NeurIPS 2023.
 *
 * Points are arrays of n_dims doubles in internal coordinates.  Smaller values
 * are better: who maximises negates.  Knows no plugin interface but sinks and
 * sources.  One thread. */
#ifndef TUNERS_GP_GP_H
#define TUNERS_GP_GP_H

#include "cmaes/axis.h"
#include "gp/process.h"
#include "gp/volume.h"
#include "keyset/keyset.h"
#include "prior/prior.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_VALUES_MAX VOLUME_COSTS_MAX
#define GP_NO_ID (~(uint64_t)0)
#define GP_GROWTH 16
#define GP_STALL 20 /* results without progress ... */
#define GP_APART 3  /* ... from which on one of so many trials is a draw */

struct tp_sink;
struct tp_source;

/* How good a result is, before its value counts. */
enum gp_class { GP_FINAL, GP_STOPPED, GP_FAILED };

struct gp_options {
    size_t startup;   /* results before the model begins */
    size_t growth;    /* length scales follow when a part of the results is
                         new: one of so many */
    bool never_apart; /* no draws while there is no progress */
    bool from_middle; /* the first trial, 0, has the middle of each number's
                         range, unless there are results but failures */
    size_t n_values;  /* of each result, each with a process; 0 is 1.  Of
                         several the hypervolume is to grow */
};

/* key: 128 bits that are equal when a trial gets the same parameters; -1: x is
 * no point. */
struct gp_services {
    struct prior_random random;
    int (*key)(void *ctx, const double *x, uint64_t *key);
    void *ctx;
};

struct gp_point {
    uint64_t id; /* GP_NO_ID: from outside */
    uint64_t class;
    double value;
};

struct gp_points {
    struct gp_point *at;
    double *x; /* n_dims a point */
    size_t n, room;
};

/* A process and what it knows; rows: the numbers of their results. */
struct gp_model {
    struct process process;
    size_t *rows;
    size_t n_rows;
    uint64_t fit_next; /* rows at which the length scales follow next */
};

/* For people: how the last point came about. */
struct gp_story {
    size_t n_modelled; /* 0: a draw of the prior */
    bool is_apart;     /* ... though there was a model */
    bool is_middle;    /* ... with numbers moved: gp_options.from_middle */
    double gain, best;
    double mean[GP_VALUES_MAX], deviation[GP_VALUES_MAX], noise[GP_VALUES_MAX];
    double feasible; /* its probability; NaN: nothing failed */
};

struct gp {
    struct gp_options options;
    struct gp_services services;
    struct prior prior;
    struct cmaes_dim *axes; /* n_dims */
    size_t n_dims;
    size_t *column; /* of a parameter: its first one, or GP_FIXED */
    size_t n_number, n_column;
    bool has_model, has_steps, repeats; /* see gp_new() */
    struct gp_points results, pending;  /* as they came, as they were asked;
                                           values may be changed */
    struct keyset tried;                /* where points can repeat */
    struct gp_model values[GP_VALUES_MAX], feasible;
    size_t n_values;
    /* Where there are several: those of each result, set before a question.
     * The points' own value is then their order, best first; below 0 it counts
     * for the front. */
    const double *lent;
    struct volume volume; /* of that front, as the processes have it */
    uint64_t last_id, again;
    uint64_t warp_tried; /* the number that was the last one to be tried ... */
    double *kept;        /* ... and length scales with it as it was */
    double target;   /* of one value: what is to be improved, as it has it */
    double centre;   /* of the labels of `feasible` */
    size_t n_failed; /* among the results */
    double *scratch;
    struct gp_story story;
};

/* Takes what prior holds, and axes (malloc).  NULL: out of memory. */
struct gp *gp_new(const struct gp_options *options,
                  const struct gp_services *services, struct prior *prior,
                  struct cmaes_dim *axes);
void gp_free(struct gp *g);

/* Fills x for the trial `id`.  -1: out of memory, as below. */
int gp_ask(struct gp *g, uint64_t id, double *x);

/* A result; what is not finite is a failure. */
int gp_tell(struct gp *g, uint64_t id, const double *x, enum gp_class class,
            double value);

/* No result will come of it.  had_started: it counts as one that failed, or
 * was stopped. */
int gp_lost(struct gp *g, uint64_t id, const double *x, bool counts,
            enum gp_class class);

/* Whether the processes see that number by its logarithm, though the search
 * space has it linear. */
bool gp_is_warped(const struct gp *g, size_t dim);

/* The gain of each point; NaN: there is no model yet.  Changes no answer. */
int gp_score(struct gp *g, const double *const *points, size_t n, double *out);

void gp_save(const struct gp *g, const struct tp_sink *sink);

/* Right after gp_new().  NULL, or what was wrong; then it may only be freed. */
const char *gp_load(struct gp *g, const struct tp_source *source);

#endif
