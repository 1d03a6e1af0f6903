/* SPDX-License-Identifier: MIT */
/* matern.h - the covariance function Matern 5/2 of Gaussian processes
 * (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006,
 * equation 4.17), which has to be fast rather than exact: within 1e-8,
 * relatively.
 *
 * As elementary.h says: the same bits on every machine for ever, nothing
 * fails, any thread. */
#ifndef NUMERICS_MATERN_H
#define NUMERICS_MATERN_H

#include <stddef.h>

/* e^-r for r >= 0; 0 from 700 on, and of NaN. */
double num_decay(double r);

/* (1 + r + r^2 / 3) e^-r, where r^2 is five times `square`, the squared
 * distance in length scales; NaN, where that is not finite. */
double num_matern52(double square);

/* The same of n, bit by bit, and its derivatives by the squares,
 * -5/6 (1 + r) e^-r; value and slope may be `squares`, not each other. */
void num_matern52_n(const double *squares, double *value, double *slope,
                    size_t n);

#endif
