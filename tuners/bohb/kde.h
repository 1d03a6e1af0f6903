/* SPDX-License-Identifier: MIT */
/* kde.h - a density over a search space, estimated from some of its points: a
 * product kernel around each (Falkner, Klein, Hutter: "BOHB", ICML 2018,
 * section 4.1).
 *
 * - Coordinates are those of tpe/axis.h.  Numbers have a normal kernel, cut
 *   off at the ends of a range; what is rounded gets the mass of its cell.
 *   Categories have Aitchison and Aitken's: 1 - h for its own value, h / (k -
 *   1) for each of the others.
 * - One width for all kernels of a dimension, by the normal reference rule:
 *   1.06 sd n^(-1 / (d + 4)) for n points and d dimensions.  sd is the
 *   standard deviation, of categories the root of half of 1 - sum p^2, which
 *   for two values is the same and knows no order.  At least min_width,
 *   and of numbers 1 / (n + 2), without which good points that lie together by
 *   chance are never left again; h at most (k - 1) / k, where all categories
 *   are alike.
 * - The prior is one more kernel.
 * - Where a point lacks a dimension its kernel has the mean of the others',
 *   which is what filling in their values at random, as the paper's code does,
 *   comes to.  Where all lack it, the prior.
 *
 * Cost of a density: O(points * dimensions).  One thread. */
#ifndef TUNERS_BOHB_KDE_H
#define TUNERS_BOHB_KDE_H

#include "tpe/axis.h"

#include <stdint.h>

struct kde_dim {
    double width;     /* CATEGORY: h */
    double hit, miss; /* CATEGORY: logarithms */
    size_t n;         /* points that have it */
    double *rows;     /* few cells: log masses, by candidate and kernel; NaN:
                         not computed yet */
};

struct kde {
    const struct axis *axes;
    size_t n_dims, n, room;
    struct kde_dim *dims;
    double *at;         /* a row a point; NaN: it lacks the dimension */
    double *inside;     /* logarithm of what lies in the range of its kernel */
    double *sum, *term; /* scratch, a point each, and the prior */
};

/* What decides about a draw: uniform numbers in [0, 1). */
struct kde_random {
    double (*uniform)(void *ctx, uint64_t a, uint32_t b, uint32_t draw);
    void *ctx;
    uint64_t a;
    uint32_t draw; /* and draw + 1; b: up to 2 n_dims */
};

/* -1: out of memory; kde_fini() is called all the same. */
int kde_init(struct kde *k, const struct axis *axes, size_t n_dims);
void kde_fini(struct kde *k);

/* Around n >= 1 points in internal coordinates.  -1: out of memory. */
int kde_fit(struct kde *k, const double *const *points, size_t n,
            double min_width);

/* The logarithm of the density at a point; dimensions whose place is NaN are
 * left out. */
double kde_log_density(struct kde *k, const struct place *at);

/* Fills x, in internal coordinates, with a draw near one of the points: each
 * kernel `factor` times as wide; a category stays with 1 - h. */
void kde_draw(const struct kde *k, const struct kde_random *r, double factor,
              double *x);

#endif
