/* SPDX-License-Identifier: MIT */
/* normal.h - the standard normal distribution, also where its tails are far
 * too thin for a double: probabilities come as logarithms.
 *
 * What elementary.h says holds here: the same bits on every machine, for
 * ever; no errno, no failure, any thread; every NaN is the same.  Errors were
 * measured against 60-digit tables (tests/unit/normal_test.c); one ulp is one
 * unit in the last place of the result. */
#ifndef NUMERICS_NORMAL_H
#define NUMERICS_NORMAL_H

#include "elementary.h"

/* Phi(x), the probability to fall below x.  Within 1 ulp, subnormal results
 * included; below -38.57 +0. */
double num_normal_cdf(double x);

/* ln(Phi(x)).  Within 1 ulp; -inf below -1e154, where its square is no double.
 */
double num_log_normal_cdf(double x);

/* ln(Phi(b) - Phi(a)).  Within 1 ulp, whether the interval is wide, some ulps
 * wide, about zero or in a far tail; infinite ends are allowed.  a == b ->
 * -inf; a > b, or NaN -> NaN; -inf where the nearer end is beyond 1e154. */
double num_log_normal_mass(double a, double b);

/* Phi(b) - Phi(a), fast: relative error below 1e-11, whatever the interval;
 * a == b -> 0; a > b, or NaN -> NaN; may be subnormal or 0. */
double num_normal_mass(double a, double b);

/* The x in [a, b] below which a standard normal variable that is known to be
 * in [a, b] falls with probability u.  u == 0 -> a, u == 1 -> b; u outside
 * [0, 1], a > b, or NaN -> NaN.  The error is below
 * 4 * 2^-53 * max(|x|, min(1, 8 (b - a))); a == b -> a. */
double num_truncated_normal_quantile(double u, double a, double b);

#endif
