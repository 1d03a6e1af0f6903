/* SPDX-License-Identifier: MIT */
/* bbob_parts.h - what the files of bbob.c share: an instance, and how its
 * shifts and rotations are drawn.  Any thread. */
#ifndef BENCH_SEARCH_BBOB_PARTS_H
#define BENCH_SEARCH_BBOB_PARTS_H

#include "bbob.h"

#define D BBOB_DIMS_MAX
#define PEAKS 101
#define PI 3.14159265358979323846

struct bbob {
    double (*value)(const struct bbob *b, const double *x);
    size_t n;
    double best;
    double x[D];             /* where the best is */
    double q[D][D], r[D][D]; /* rotations */
    double factor;           /* of the Rosenbrock functions */
    double weight[PEAKS];    /* f21: of each peak */
    double scale[PEAKS][D];  /* its widths */
    double peak[PEAKS][D];   /* and its place, rotated */
};

/* 0 for the first dimension, 1 for the last one. */
static inline double
part(const struct bbob *b, size_t i)
{
    return (double)i / (double)(b->n - 1);
}

/* z = m z. */
void bbob_rotate(const double m[D][D], size_t n, double *z);

/* All that is drawn for any function; `n` is set. */
void bbob_draw(struct bbob *b, uint64_t seed);
/* What these draw, or need, besides. */
void bbob_draw_corner(struct bbob *b, uint64_t seed);     /* f5 */
void bbob_draw_rosenbrock(struct bbob *b, uint64_t seed); /* f9, f19 */
void bbob_draw_peaks(struct bbob *b, uint64_t seed);      /* f21 */

#endif
