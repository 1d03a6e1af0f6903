/* SPDX-License-Identifier: MIT */
/* rest.h - g(x): the Parzen estimator over the points that are not good, and
 * over those that are still being tried.
 *
 * There may be thousands of them, so that their kernels are kept from one ask
 * to the next: one width a dimension for all, which shrinks with the number of
 * results in steps of a tenth, so that what depends on it is seldom computed
 * anew, and for a new point when it is asked for.  Only the latest `most`
 * points have kernels.  A dimension with few values has a table of its cells'
 * masses, filled row by row as candidates ask for them; others use the normal
 * distribution widened by the cell, which has its first two moments.  One
 * thread. */
#ifndef TUNERS_TPE_REST_H
#define TUNERS_TPE_REST_H

#include "tpe/points.h"

#define REST_MOST 2048 /* kernels, unless others are wanted */
#define REST_BLOCK 64
#define REST_TABLE_MOST 64 /* values, for a table */

struct rest_dim {
    double *at;     /* by slot; of a table: the column */
    double *inside; /* by slot, logarithm; NULL: in `base` */
    double s;
    double h, c;      /* of a continuum: c - h (x - at)^2 */
    double hit, miss; /* CATEGORY */
    double **rows;    /* of a table: by the candidate's column */
    double *within;   /* of a table: by column, as `inside`; NaN: not known */
    size_t n_columns;
};

/* What a candidate has in a dimension. */
struct rest_term {
    size_t d;
    double at, prior; /* its logarithm */
    double h, c;      /* of a normal distribution, as above */
    const double *row;
};

struct rest {
    const struct axis *axes;
    size_t n_dims, n_shaping; /* dimensions that are not SINGLE or CATEGORY */
    size_t n, capacity;       /* slots in use and at all */
    size_t most;              /* slots; a multiple of REST_BLOCK */
    size_t width_n;           /* results that the widths are made for */
    struct rest_dim *dims;
    double *base;   /* by slot: logarithms of what is inside, summed; NaN: the
                       slot has a new point */
    double *weight; /* by slot: of the present ask, logarithms, and `base` */
    double *v;      /* by slot: scratch */
    double prior;   /* its weight, logarithm */
    struct rest_term *terms; /* of the present candidate */
    size_t n_terms;
    double common; /* of it: in all kernels alike */
};

/* most: a multiple of REST_BLOCK. */
int tpe_rest_init(struct rest *r, const struct axis *axes, size_t n_dims,
                  size_t most);
void tpe_rest_fini(struct rest *r);

/* Point i has been added, or moved; tpe_rest_shape() is to follow.  -1: out of
 * memory. */
int tpe_rest_put(struct rest *r, const struct points *p, size_t i);

/* Widths for n results, and kernels for all points. */
void tpe_rest_shape(struct rest *r, const struct points *p, size_t n);

/* Whether the dimension has a table of its cells. */
static inline int
tpe_rest_has_table(const struct axis *a)
{
    return a->kind == AXIS_RANGE && a->n > 0 && a->n <= REST_TABLE_MOST;
}

/* The logarithm of what lies in the range of a kernel. */
double tpe_rest_log_inside(const struct axis *a, double at, double s);

/* Which point's kernel lies in a slot, of n points. */
static inline size_t
tpe_rest_point(const struct rest *r, size_t slot, size_t n)
{
    size_t last = n - 1, turn = last / r->most * r->most;

    return slot <= last % r->most ? turn + slot : turn - r->most + slot;
}

/* The weights of the present ask: weight[slot] for each slot in use, 0 for
 * none, and the prior's. */
void tpe_rest_weigh(struct rest *r, const double *weight, double prior);

/* The logarithm of g at n_dims places; INFINITY: surely more than `most`.  NaN:
 * out of memory. */
double tpe_rest_score(struct rest *r, const struct place *at, double most);

#endif
