/* SPDX-License-Identifier: MIT */
/* elementary.h - exp, log, pow, erfc and the normal quantile, the same bits
 * on every machine.
 *
 * A C library chooses its code by CPU: with and without fused multiply-add
 * its exp differs in the last place, and one such bit in a tuner's answer
 * breaks the replay of a command log.  These functions use IEEE + - * / and
 * square root on doubles, and integers, in a fixed order, and nothing else.
 * They assume rounding to nearest and subnormals as IEEE has them.
 *
 * Each is within one unit in the last place of the true value, subnormal
 * results included (measured: see tests/unit/elementary_error_test.c,
 * power_test.c), and every NaN returned is the same, 0x7ff8000000000000.  The
 * bits are a stored promise, as in random.h: a better last place would break
 * old logs. Nothing sets errno; the floating-point flags mean nothing.  Any
 * thread, nothing fails. */
#ifndef NUMERICS_ELEMENTARY_H
#define NUMERICS_ELEMENTARY_H

/* e^x.  +-0 -> 1, +inf -> +inf, -inf -> +0, NaN -> NaN; above 709.78...
 * +inf, below -745.13... +0. */
double num_exp(double x);

/* Natural logarithm.  +-0 -> -inf, 1 -> +0, +inf -> +inf; below 0, or NaN
 * -> NaN. */
double num_log(double x);

/* ln(1 + x) and e^x - 1, as exact near 0 as elsewhere; +-0 -> +-0.  log1p:
 * -1 -> -inf, below -1 -> NaN. */
double num_log1p(double x);
double num_expm1(double x);

/* x to the power of y, with what C11's F.10.4.4 says of zeros, infinities and
 * NaN: x^0 and 1^y are 1 for every x and y; NaN for a finite x < 0 with a
 * finite y that is no integer. */
double num_pow(double x, double y);

/* Complementary error function.  +-0 -> 1, -inf -> 2, +inf -> +0, NaN -> NaN;
 * above 27.22... +0. */
double num_erfc(double x);

/* The x below which a standard normal variable falls with probability p.
 * 0 (either sign) -> -inf, 0.5 -> +0, 1 -> +inf; outside [0, 1], or NaN
 * -> NaN. */
double num_normal_quantile(double p);

/* Nearest integer, halves to even, whatever the rounding mode; the sign of
 * zero is that of x.  +-inf -> +-inf, NaN -> NaN. */
double num_round_even(double x);

/* Correctly rounded by IEEE, never by a library call.  -0 -> -0, +inf ->
 * +inf; below 0, or NaN -> NaN. */
double num_sqrt(double x);

#endif
