/* SPDX-License-Identifier: MIT */
/* model.h - what BOHB makes of results: of each budget, those of the trials
 * that used it; and densities of the good and of the others of the greatest
 * budget that has enough.  S. Falkner, A. Klein, F. Hutter: "BOHB: Robust and
 * Efficient Hyperparameter Optimization at Scale", ICML 2018, section 4.1 and
 * equation 3, with as many as the paper's code waits for:
 *
 *     N_l = max(N_min, q N), N_g = N - N_l           at least dimensions + 1
 *
 * The best N_l are good, the N_g are the others; of more than 256 each so many
 * are taken, evenly by rank.  Of num_samples draws near good points the one
 * with the greatest l / g is
 * suggested; a share of random_fraction are draws of the prior.
 *
 * Memory: 16 bytes and 8 a dimension for each result, some twice as much again
 * for the densities.  A suggestion costs O(samples * results * dimensions), the
 * first after a new result O(results log(results)) more.
 *
 * Knows no plugin interface; one thread at a time. */
#ifndef TUNERS_BOHB_MODEL_H
#define TUNERS_BOHB_MODEL_H

#include "bohb/kde.h"
#include "prior/prior.h"

#include <stdbool.h>

struct tp_sink;
struct tp_source;

#define MODEL_NO_N (~(uint64_t)0)

struct model_options {
    bool maximize;
    size_t min_points;  /* N_min; 0: dimensions + 1, which is also the least */
    size_t top_percent; /* 100 q */
    size_t num_samples; /* at least 1 */
    double random_fraction;
    double bandwidth_factor; /* draws are so much wider than kernels */
    double min_bandwidth;    /* above 0; in units of the range */
};

struct model_result {
    uint64_t n;  /* of the configuration, or MODEL_NO_N */
    double loss; /* lower is better; infinity for NaN */
};

struct model_level {
    struct model_result *results;
    double *x;
    size_t n, room;
};

/* Members are for model*.c. */
struct model {
    struct model_options options;
    struct prior prior;
    struct axis *axes;
    struct model_level *levels; /* by budget, the least first */
    size_t n_levels;
    bool is_fitted; /* good and others are those of the present results */
    struct kde good, others;
    struct place *places; /* scratch */
    double *candidate;
};

/* How a suggestion came about. */
struct model_origin {
    bool is_modelled;
    bool
        is_fraction; /* else: drawn for random_fraction, or nothing was drawn */
    size_t level;    /* of the model, or with the most results */
    size_t n_results, n_good, n_others, needed;
    size_t candidate; /* which of the draws, from 0 */
    double score;     /* log l - log g */
};

/* NULL when out of memory. */
struct model *model_new(const struct model_options *options, size_t n_levels);
void model_free(struct model *m);

/* A new space: nothing is known.  Takes what prior holds, and axes (malloc).
 * -1: out of memory; then m may only be freed, or be given another space. */
int model_space(struct model *m, struct prior *prior, struct axis *axes);

/* A result of a trial that used the budget of a level: `value` as reported;
 * NaN is the worst.  `again`: in the place of the one of the same n, if there
 * is one.  -1: out of memory. */
int model_learn(struct model *m, size_t level, uint64_t n, const double *x,
                double value, bool again);

/* Fills x for the trial `id`, asked for the `again`-th time (from 0), but where
 * another model is to: without results or memory for this one, or if
 * `by_other`, unless the prior's turn has come. */
void model_ask(struct model *m, const struct prior_random *random, uint64_t id,
               uint64_t again, bool by_other, double *x,
               struct model_origin *origin);

/* log l - log g of each point; NaN without a model.  -1: out of memory. */
int model_score(struct model *m, const double *const *points, size_t n,
                double *out);

/* The results, as values in a row. */
void model_save(const struct model *m, const struct tp_sink *sink);

/* Right after model_space().  NULL, or what was wrong: then m may only be
 * freed. */
const char *model_load(struct model *m, const struct tp_source *source);

#endif
