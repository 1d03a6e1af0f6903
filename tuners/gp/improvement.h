/* SPDX-License-Identifier: MIT */
/* improvement.h - what a normal number is expected to be below a bound. */
#ifndef TUNERS_GP_IMPROVEMENT_H
#define TUNERS_GP_IMPROVEMENT_H

/* log(phi(z) + z Phi(z)), the logarithm of E[max(z - x, 0)] of a standard
 * normal x, and its slope by z; accurate where that is no double any more (S.
 * Ament and others, "Unexpected Improvements to Expected Improvement for
 * Bayesian Optimization", 2023, equation 9). */
double log_improvement(double z, double *slope);

#endif
