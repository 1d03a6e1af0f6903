/* SPDX-License-Identifier: MIT */
/* good.h - l(x): the Parzen estimator over the best points, from which the
 * candidates are drawn.
 *
 * A kernel is a product over the dimensions that are active in its point, so
 * that what belongs together stays together; where a candidate has a dimension
 * that the kernel's point lacks, the prior stands in.  Each kernel has a width
 * of its own in each dimension: the larger gap to its neighbours (Bergstra et
 * al. 2011), clipped from below by the number of kernels.  What was worked out
 * for a kernel stays as long as it does not change, in a slot that its point
 * keeps while it is good.  One thread. */
#ifndef TUNERS_TPE_GOOD_H
#define TUNERS_TPE_GOOD_H

#include "tpe/points.h"

#define GOOD_LANES 8

/* Uniform in [0, 1), always the same for the same numbers. */
typedef double tpe_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw);

/* A dimension of all kernels, by slot. */
struct good_dim {
    double *at, *s;       /* at NaN: the point lacks the dimension */
    double *low, *inside; /* the normal distribution's mass below and within */
    double *log_inside;
    double *h, *c;          /* continuum: the logarithm is c - h (x - at)^2 */
    double hit, miss, keep; /* CATEGORY: logarithms; the share that is kept */
    double **rows; /* by the candidate's column: logarithms of masses, NaN: not
                      yet known, and NaN behind them, where any is; NULL: too
                      many, or none */
    size_t n_columns;
};

struct good {
    const struct axis *axes;
    size_t n_dims, n;
    size_t capacity; /* slots, a multiple of GOOD_LANES */
    size_t used;     /* so many of them may have a kernel, the same */
    struct good_dim *dims;
    uint32_t *of,
        *slot; /* a slot's point; the slot of the best, the next ... */
    double *weight, *log_weight; /* n + 1: the prior's is the last; sum 1 */
    double *v, *scratch;
    uint32_t *spare;
};

int tpe_good_init(struct good *g, const struct axis *axes, size_t n_dims);
void tpe_good_fini(struct good *g);

/* Kernels around the points of[0..n-1], the best first, and the prior with the
 * weight of `prior` of them.  -1: out of memory. */
int tpe_good_set(struct good *g, const struct points *p, const uint32_t *of,
                 size_t n, double prior);

/* Fills x and at with the draw-th draw for `id`. */
void tpe_good_draw(const struct good *g, tpe_uniform *uniform, void *ctx,
                   uint64_t id, uint32_t draw, double *x, struct place *at);

/* A draw of the prior alone. */
void tpe_good_draw_prior(const struct good *g, tpe_uniform *uniform, void *ctx,
                         uint64_t id, uint32_t draw, double *x,
                         struct place *at);

/* out[c]: the logarithm of l at the c-th of n_at points of n_dims places. */
void tpe_good_score(struct good *g, const struct place *at, size_t n_at,
                    double *out);

#endif
