/* SPDX-License-Identifier: MIT */
/* batch.h - functions of elementary.h and normal.h on arrays, bit for bit what
 * they say of each element alone.  num_exp_n and num_normal_mass_n take two at
 * a time, which is some four times and twice as fast.
 *
 * Any thread, nothing fails. */
#ifndef NUMERICS_BATCH_H
#define NUMERICS_BATCH_H

#include <stddef.h>

/* out[i] = num_exp(v[i]); out may be v. */
void num_exp_n(const double *v, double *out, size_t n);

/* For bounds, at a tenth of the cost: not more than the sum of the exponentials
 * of v[i] - minus, n a multiple of 4, and 0.93 of it or more, short of terms
 * below 1e-300; no v[i] - minus is above 700, or NaN. */
double num_sum_exp_least(const double *v, double minus, size_t n);

/* out[i] = num_normal_mass(a[i], b[i]); out may be a or b. */
void num_normal_mass_n(const double *a, const double *b, double *out, size_t n);

/* out[i] = num_log_normal_mass(a[i], b[i]), one at a time: nine times the cost
 * of num_normal_mass_n, for results that no double holds but as logarithms;
 * out may be a or b. */
void num_log_normal_mass_n(const double *a, const double *b, double *out,
                           size_t n);

/* ln of the sum of the exponentials of n numbers, which may be -inf; n == 0
 * -> -inf; +inf among them -> +inf; NaN among them -> NaN.  The sum is taken
 * in the order given.  The error is below 2^-52 (2 + ln n) and 1 ulp. */
double num_log_sum_exp(const double *v, size_t n);

#endif
