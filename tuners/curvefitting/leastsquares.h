/* SPDX-License-Identifier: MIT */
/* leastsquares.h - nonlinear least squares for a few parameters: the
 * Levenberg-Marquardt method of More, "The Levenberg-Marquardt algorithm:
 * implementation and theory" (Lecture Notes in Mathematics 630, 1978), step by
 * step as MINPACK's lmdif has it with the settings of SciPy's curve_fit: the
 * derivative by forward differences, scaling by the columns of the Jacobian,
 * initial step bound 100, relative tolerances 1.49012e-8, at most 200 (n + 1)
 * evaluations.
 *
 * Knows no plugin interface; any thread. */
#ifndef CURVEFITTING_LEASTSQUARES_H
#define CURVEFITTING_LEASTSQUARES_H

#include <stddef.h>

#define LEASTSQUARES_MAX 4 /* parameters */

/* Fills r[0..m-1] with what is left over at the parameters p. */
typedef void leastsquares_fn(void *ctx, const double *p, double *r, size_t m);

/* p: n parameters, where to start and, when it succeeds, where the sum of
 * squares is least; n <= m.  `work` has room for m * (n + 2) doubles.  -1 when
 * it does not converge, or has no finite value to start from: p is then left
 * alone. */
int leastsquares(leastsquares_fn *f, void *ctx, double *p, size_t n, size_t m,
                 double *work);

#endif
