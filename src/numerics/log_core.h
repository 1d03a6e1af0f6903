/* SPDX-License-Identifier: MIT */
/* log_core.h - log with a result wider than a double, for the functions that
 * multiply it or add to it.  Internal to src/numerics; any thread. */
#ifndef NUMERICS_LOG_CORE_H
#define NUMERICS_LOG_CORE_H

#include "double_double.h"

/* ln(x.hi + x.lo), x.hi positive, finite and |x.lo| <= ulp(x.hi); x.lo is 0
 * where x.hi is subnormal or above 2^1000.  Relative error below 2^-66; hi is
 * the sum's nearest double. */
struct dd log_core(struct dd x);

#endif
