/* SPDX-License-Identifier: MIT */
/* erfcx_core.h - the scaled complementary error function exp(y^2) erfc(y),
 * which neither under- nor overflows.  Internal to src/numerics; any
 * thread. */
#ifndef NUMERICS_ERFCX_CORE_H
#define NUMERICS_ERFCX_CORE_H

#include "double_double.h"

#define INV_SQRT_2 ((struct dd){0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55})

/* erfcx of y.hi + y.lo, y.hi >= 0 and below 1e200.  Relative error below
 * 2^-59 up to ERFCX_TABLE_END, 2^-51 beyond. */
#define ERFCX_TABLE_END 27.3
struct dd erfcx_core(struct dd y);

#endif
