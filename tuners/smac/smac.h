/* SPDX-License-Identifier: MIT */
/* smac.h - sequential model-based optimization with a random forest: suggests
 * the point whose expected improvement, as the forest sees it, a local search
 * finds to be largest.
 *
 * F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization
 * for General Algorithm Configuration", LION 5, 2011, section 4.  What was
 * taken from where, and what was measured, is in README.md.
 *
 * One thread.  What is suggested depends on the calls before, their order
 * included, and on the bits given. */
#ifndef TUNERS_SMAC_SMAC_H
#define TUNERS_SMAC_SMAC_H

#include "keyset/keyset.h"
#include "smac/forest.h"
#include "tpe/points.h"

struct tp_sink;
struct tp_source;

struct smac_options {
    bool maximize;
    size_t startup;    /* results before the forest's first suggestion; > 0 */
    size_t candidates; /* draws of the prior beside the local searches; > 0 */
    size_t most;       /* the forest is fitted to so many points; > 0 */
    double random;     /* share of suggestions that are draws of the prior */
    struct forest_options forest;
};

/* Why a suggestion is what it is. */
enum smac_how {
    SMAC_STARTS,  /* a draw of the prior: there are too few results */
    SMAC_RANDOM,  /* one because now and then there is one */
    SMAC_SEARCHED /* what the search in the forest found */
};

struct smac_reason {
    enum smac_how how;
    size_t n_points; /* that the forest was fitted to */
    double mean, sd; /* of the forest at x, a scaled logarithm */
    double best;     /* of the results, as that */
    bool is_local;   /* found by a local search */
};

struct smac {
    struct smac_options options;
    size_t n_dims;
    struct axis *axes;
    struct points points;
    struct keyset twins; /* of every point there was */
    struct forest forest;
    /* Of one ask. */
    size_t room;     /* in the next, for so many points */
    uint32_t *rank;  /* by point: from the best, UINT32_MAX: none */
    uint32_t *rows;  /* the points that the forest is fitted to */
    double *x, *y;   /* the same as columns, and what is known of them */
    double *scratch; /* points of the search */
};

/* axes: n_dims, copied.  NULL: out of memory. */
struct smac *smac_new(const struct smac_options *options,
                      const struct axis *axes, size_t n_dims);
void smac_free(struct smac *s);

/* 64 random bits: always the same for the same (a, b, draw). */
typedef uint64_t smac_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw);

/* Fills x for the trial `id`; asked again, with something else.  -1: out of
 * memory. */
int smac_ask(struct smac *s, smac_bits *bits, void *ctx, uint64_t id, double *x,
             struct smac_reason *why);

/* How good the forest holds each of n points for: log of the expected
 * improvement; NaN before there are results enough.  Later suggestions are the
 * same.  -1: out of memory. */
int smac_score(struct smac *s, const double *const *points, size_t n,
               double *out);

/* x has been given to trial `id`, here or elsewhere.  -1: out of memory. */
int smac_open(struct smac *s, uint64_t id, const double *x);

/* The result of `id`, or POINTS_NO_ID; x is where it was really tried.  A value
 * that is not finite is a failure. */
int smac_tell(struct smac *s, uint64_t id, const double *x, bool stopped,
              double value, uint64_t step);

/* As tpe_points_copy(), to a struct smac. */
int smac_copy(void *s, const struct point *point, const double *x);

/* The points and what became of them, as values in a row; all else follows. */
void smac_save(const struct smac *s, const struct tp_sink *sink);

/* Into a smac that knows nothing, of the same options and axes.  NULL, or what
 * is wrong. */
const char *smac_load(struct smac *s, const struct tp_source *source);

#endif
