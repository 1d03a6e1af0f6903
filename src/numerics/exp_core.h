/* SPDX-License-Identifier: MIT */
/* exp_core.h - exp with a mantissa wider than a double and an exponent of its
 * own, for the functions that are a multiple of it.  Internal to
 * src/numerics; any thread. */
#ifndef NUMERICS_EXP_CORE_H
#define NUMERICS_EXP_CORE_H

#include "double_double.h"

#define NUM_NAN (dd_from_bits(0x7ff8000000000000u))
#define NUM_INFINITY (dd_from_bits(0x7ff0000000000000u))

/* (hi + lo) * 2^exponent */
struct scaled {
    double hi, lo;
    int exponent;
};

/* e^(x.hi + x.lo), |x.hi| < 800, |x.lo| <= ulp(x.hi); relative error below
 * 2^-59, 0.99 < hi < 2. */
struct scaled exp_core(struct dd x);

/* To one double, rounded once, also when it is subnormal; 0 < hi < 4,
 * |lo| <= ulp(hi), |exponent| <= 1200. */
double scaled_round(struct scaled s);

#endif
