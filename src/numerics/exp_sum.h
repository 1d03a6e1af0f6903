/* SPDX-License-Identifier: MIT */
/* exp_sum.h - sums of very many exponentials, as mixtures of kernels need
 * them, at a few nanoseconds each.
 *
 * The same bits on every machine, as elementary.h: IEEE + - * in a fixed
 * order, and integers.  The loops are written in lanes that do not depend on
 * each other, so that a compiler may use vectors of any width up to 8 doubles
 * without changing a bit.  Any thread, nothing fails. */
#ifndef NUMERICS_EXP_SUM_H
#define NUMERICS_EXP_SUM_H

#include <stddef.h>

#define NUM_LANES 8

/* The largest of v[0..n-1]; n is a multiple of NUM_LANES, above 0, and no v is
 * NaN. */
double num_largest(const double *v, size_t n);

/* The sum of e^(v[i] - most); no v is above most, NaN or +inf, n as above.
 * The relative error is below 4e-10.  NUM_LANES in a row, from a multiple of it
 * on, that are all below most - 40 count as nothing, and what is below most -
 * 700 beside larger ones as that. */
double num_exp_sum(const double *v, size_t n, double most);

#endif
