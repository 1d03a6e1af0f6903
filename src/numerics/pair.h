/* SPDX-License-Identifier: MIT */
/* pair.h - two doubles side by side, as every machine we run on has them in a
 * register.  + - * / of pairs have the bits of the same done one by one.
 * Internal to src/numerics; any thread. */
#ifndef NUMERICS_PAIR_H
#define NUMERICS_PAIR_H

#include "double_double.h"

typedef double pair __attribute__((vector_size(16)));

typedef int64_t pair_mask __attribute__((vector_size(16)));

typedef uint64_t pair_bits __attribute__((vector_size(16)));

/* mask ? x : y, where mask is what a comparison of pairs gives. */
static inline pair
pair_select(pair_mask mask, pair x, pair y)
{
    return (pair)(((pair_mask)x & mask) | ((pair_mask)y & ~mask));
}

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
