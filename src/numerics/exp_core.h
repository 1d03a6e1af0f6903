/* SPDX-License-Identifier: MIT */
/* exp_core.h - exp with a mantissa wider than a double and an exponent of its
 * own, for the functions that are a multiple of it.  Internal to
 * src/numerics; any thread. */
#ifndef NUMERICS_EXP_CORE_H
#define NUMERICS_EXP_CORE_H

#include "double_double.h"

#define NUM_NAN (dd_from_bits(0x7ff8000000000000u))
#define NUM_INFINITY (dd_from_bits(0x7ff0000000000000u))

/* ln2/64 in three parts; the first two have 36 bits, so that k times them is
 * exact for |k| < 2^17. */
#define EXP_STEP_HI 0x1.62e42fefap-7
#define EXP_STEP_MID 0x1.cf79abc9ep-46
#define EXP_STEP_LO 0x1.d9cc01f97b57ap-85
#define EXP_STEPS_PER_ONE 0x1.71547652b82fep+6 /* 64/ln2 */

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
