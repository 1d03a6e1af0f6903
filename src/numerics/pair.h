/* SPDX-License-Identifier: MIT */
/* pair.h - two doubles side by side, as every machine we run on has them in a
 * register.  + - * / of pairs have the bits of the same done one by one.
 * Internal to src/numerics; any thread. */
#ifndef NUMERICS_PAIR_H
#define NUMERICS_PAIR_H

#include "double_double.h"

typedef double pair __attribute__((vector_size(16)));

static inline pair
pair_load(const double *x)
{
    pair p;

    memcpy(&p, x, sizeof(p));
    return p;
}

static inline void
pair_store(double *x, pair p)
{
    memcpy(x, &p, sizeof(p));
}

#endif
