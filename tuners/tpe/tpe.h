/* SPDX-License-Identifier: MIT */
/* tpe.h - the tree-structured Parzen estimator: models the points that were
 * good, l, and the rest, g, and suggests that of some draws from l where l/g,
 * with which the expected improvement rises, is largest.
 *
 * J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for Hyper-Parameter
 * Optimization", NIPS 24, 2011, section 4; kernels that are joint over
 * dimensions: S. Falkner, A. Klein, F. Hutter, "BOHB", ICML 2018; the parts:
 * S. Watanabe, "Tree-Structured Parzen Estimator", arXiv:2304.11127, 2023.
 * What was taken from where, and what was measured, is in README.md.
 *
 * One thread.  What is suggested depends on the calls before, their order
 * included, and on `uniform`. */
#ifndef TUNERS_TPE_TPE_H
#define TUNERS_TPE_TPE_H

#include "keyset/keyset.h"
#include "tpe/good.h"
#include "tpe/points.h"
#include "tpe/rest.h"

struct tp_sink;
struct tp_source;

/* What is assumed of points that are still being tried. */
enum tpe_liar {
    TPE_LIAR_NONE,  /* nothing: they are not looked at */
    TPE_LIAR_BEST,  /* they are as good as the best so far */
    TPE_LIAR_MEAN,  /* as the average */
    TPE_LIAR_WORST, /* as the worst: suggestions keep away from them */
};

struct tpe_options {
    bool maximize;
    enum tpe_liar liar;
    size_t startup;    /* results before the first suggestion of the model */
    size_t candidates; /* draws for each suggestion; > 0 */
    size_t forgetting; /* so many of the latest weigh 1, older ones less;
                          0: all the same */
    double prior;      /* weight of the prior, in kernels; > 0 */
    double gamma;      /* good: gamma * sqrt(n) of n; 0: a fifth */
    size_t good_most;  /* good: not more */
    size_t kernels;    /* in g: not more, a multiple of REST_BLOCK; 0:
                          REST_MOST */
};

enum tpe_how {
    TPE_FINAL,
    TPE_STOPPED /* censored: an intermediate value */
};

/* Why a suggestion is what it is. */
struct tpe_reason {
    size_t n_good, n_rest;
    size_t candidate; /* from 0, of those that were looked at */
    size_t twins;     /* of them were tried before */
    double score;     /* log l - log g */
};

struct tpe {
    struct tpe_options options;
    size_t n_dims;
    struct axis *axes;
    struct points points;
    struct good good;
    struct rest rest;
    struct keyset twins; /* of every point there was */
    struct keyset left;  /* of them, of points that were moved from there */
    bool repeats;        /* no dimension makes every point another */
    /* Of one ask. */
    uint32_t *chosen; /* the good points */
    size_t chosen_room;
    double *weight; /* by slot of rest */
    double *x;      /* the candidates */
    struct place *at;
    double *log_good;
};

/* axes: n_dims, copied.  NULL: out of memory. */
struct tpe *tpe_new(const struct tpe_options *options, const struct axis *axes,
                    size_t n_dims);
void tpe_free(struct tpe *t);

/* Whether there are results enough for tpe_ask(); else the prior is to be
 * sampled. */
bool tpe_is_ready(const struct tpe *t);

/* Fills x for the trial `id`.  -1: out of memory. */
int tpe_ask(struct tpe *t, tpe_uniform *uniform, void *ctx, uint64_t id,
            double *x, struct tpe_reason *why);

/* By how much the logarithm of l is above that of g at each of n points; NaN
 * before tpe_is_ready().  Later suggestions are the same.  -1: out of memory.
 */
int tpe_score(struct tpe *t, const double *const *points, size_t n,
              double *out);

/* x has been given to trial `id`, here or elsewhere.  -1: out of memory. */
int tpe_open(struct tpe *t, uint64_t id, const double *x);

/* The result of `id`, or POINTS_NO_ID; x is where it was really tried.  A value
 * that is not finite is a failure. */
int tpe_tell(struct tpe *t, uint64_t id, const double *x, enum tpe_how how,
             double value, uint64_t step);

/* As tpe_points_copy(), to a struct tpe. */
int tpe_copy(void *t, const struct point *point, const double *x);

/* What the rank-th of n results, the oldest being 0, weighs: NNI's linear
 * forgetting. */
double tpe_weight(size_t forgetting, size_t n, size_t rank);

/* How many of n results are good. */
size_t tpe_n_good(const struct tpe_options *o, size_t n);

/* The points, what became of them, and where points lay before, as values in a
 * row; all else follows from these. */
void tpe_save(const struct tpe *t, const struct tp_sink *sink);

/* Into a tpe that knows nothing, of the same options and axes.  NULL, or what
 * is wrong. */
const char *tpe_load(struct tpe *t, const struct tp_source *source);

#endif
