/* SPDX-License-Identifier: MIT */
/* double_double.h - numbers as an unevaluated sum hi + lo of two doubles.
 * Internal to src/numerics; any thread.
 *
 * The error-free transformations are T. J. Dekker, "A floating-point
 * technique for extending the available precision", Numer. Math. 18, 1971,
 * and D. E. Knuth, The Art of Computer Programming 2, section 4.2.2.  They
 * need plain IEEE doubles, rounded to nearest and never contracted into
 * fused operations; what can be refused at compile time is refused here. */
#ifndef NUMERICS_DOUBLE_DOUBLE_H
#define NUMERICS_DOUBLE_DOUBLE_H

#include <assert.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");
static_assert(FLT_RADIX == 2 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024,
              "double must be IEEE binary64");
#ifdef __FAST_MATH__
#error "src/numerics must not be compiled with -ffast-math"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc has -ffp-contract=off, also by -std=c11 */
#endif

struct dd {
    double hi, lo;
};

static inline uint64_t
dd_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double
dd_from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* 2^n, -1022 <= n <= 1023. */
static inline double
dd_power_of_two(int n)
{
    return dd_from_bits((uint64_t)(n + 1023) << 52);
}

/* a + b exactly. */
static inline struct dd
dd_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;

    return (struct dd){s, (a - (s - t)) + (b - t)};
}

/* a + b exactly, if |a| >= |b| or a == 0. */
static inline struct dd
dd_fast_sum(double a, double b)
{
    double s = a + b;

    return (struct dd){s, b - (s - a)};
}

/* Veltkamp's splitting into 26 and 27 bits; |a| < 2^995. */
static inline struct dd
dd_split(double a)
{
    double t = 134217729.0 * a; /* 2^27 + 1 */
    double hi = t - (t - a);

    return (struct dd){hi, a - hi};
}

/* a * b exactly, short of under- and overflow. */
static inline struct dd
dd_product(double a, double b)
{
    double p = a * b;
    struct dd x = dd_split(a);
    struct dd y = dd_split(b);
    double e = ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo;

    return (struct dd){p, e};
}

/* a * b with a relative error below 2^-100. */
static inline struct dd
dd_multiply(struct dd a, struct dd b)
{
    struct dd p = dd_product(a.hi, b.hi);

    return dd_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

#endif
