/* SPDX-License-Identifier: MIT */
#include "elementary.h"

#include "double_double.h"
#include "exp_core.h"
#include "exp_table.h"
#include "log_table.h"

/* DESIGN: table-driven, after P. T. P. Tang, "Table-driven implementation of
 * the exponential function in IEEE floating-point arithmetic", ACM TOMS 15,
 * 1989, and the same for the logarithm, TOMS 16, 1990:
 *
 *     x = k ln2/64 + r             exp(x) = 2^(k div 64) T[k mod 64] exp(r)
 *     x = 2^e z, c near 1/z        log(x) = e ln2 - log(c) + log(1 + r),
 *                                       r = z c - 1
 *
 * In both, r is small enough for its square and the higher terms of a Taylor
 * series to be needed in plain doubles only; r itself and the table entries
 * are hi + lo.  So the sum is known to some 60 bits before it is rounded. */

/* ln2; the first part a multiple of 2^-42, as in the table. */
#define LN2_HI 0x1.62e42fefa38p-1
#define LN2_LO 0x1.ef35793c7673p-45

struct scaled
exp_core(struct dd x)
{
    const double shift = 0x1.8p52;
    double k = (x.hi * EXP_STEPS_PER_ONE + shift) - shift;
    int n = (int)k + 2048 * 64; /* positive, so that / and % round down */
    const struct exp_row *t = &exp_table[n % 64];
    struct dd r = dd_sum(x.hi - k * EXP_STEP_HI, -(k * EXP_STEP_MID));
    double low = r.lo + (x.lo - k * EXP_STEP_LO);
    double h = r.hi;
    double q = 1 / 6.0 + h * (1 / 24.0 + h * (1 / 120.0 + h * (1 / 720.0)));
    double tail = h * h * (0.5 + h * q);
    struct dd s;

    /* exp(r) - 1 = h + tail; x.lo, and so low, may reach 2^-44. */
    tail += low + low * (h + 0.5 * (h * h));
    s = dd_fast_sum(t->hi, t->hi * h);
    low = s.lo + (t->lo + t->hi * tail);
    s = dd_fast_sum(s.hi, low);
    return (struct scaled){s.hi, s.lo, n / 64 - 2048};
}

double
scaled_round(struct scaled s)
{
    double value = s.hi + s.lo;
    int half = s.exponent / 2;

    if (s.exponent < -1000 && value < dd_power_of_two(-1022 - s.exponent)) {
        /* Subnormal.  Added to `grid`, a number is rounded to a multiple of
         * what becomes 2^-1074: once, with lo having its say. */
        double grid = dd_power_of_two(-1022 - s.exponent);
        struct dd sum = dd_fast_sum(grid, s.hi);

        value = (sum.hi + (sum.lo + s.lo)) - grid;
    }
    return value * dd_power_of_two(half) * dd_power_of_two(s.exponent - half);
}

double
num_exp(double x)
{
    if (x != x)
        return NUM_NAN;
    if (x > 710)
        return NUM_INFINITY;
    if (x < -746)
        return 0;
    return scaled_round(exp_core((struct dd){x, 0}));
}

/* log of the positive normal number with these bits times 2^e. */
static double
log_core(uint64_t bits, int e)
{
    const uint64_t origin = 0x3fe6000000000000u; /* z from 0.6875 to 1.375 */
    const uint64_t one = 0x3ff0000000000000u;
    uint64_t offset = bits - origin + one;
    const struct log_row *t = &log_table[offset >> 45 & 127];
    uint64_t z_bits = bits - ((offset & ~UINT64_C(0) << 52) - one);
    double z_hi = dd_from_bits(z_bits & ~UINT64_C(0) << 27);
    double z_lo = dd_from_bits(z_bits) - z_hi;
    struct dd r = dd_sum(z_hi * t->c - 1, z_lo * t->c); /* exact: c is short */
    double k = (double)((int)(offset >> 52) - 1023 + e);
    struct dd s = dd_sum(k * LN2_HI + t->hi, r.hi);
    double h = r.hi;
    double q =
        1 / 5.0 + h * (-1 / 6.0 + h * (1 / 7.0 + h * (-0.125 + h * (1 / 9.0))));
    double tail = h * h * (-0.5 + h * (1 / 3.0 + h * (-0.25 + h * q)));

    return s.hi + (s.lo + (tail + (r.lo + (t->lo + k * LN2_LO))));
}

double
num_log(double x)
{
    if (x != x || x < 0)
        return NUM_NAN;
    if (x == 0)
        return -NUM_INFINITY;
    if (x > DBL_MAX)
        return x;
    if (x < DBL_MIN)
        return log_core(dd_bits(x * 0x1p52), -52);
    return log_core(dd_bits(x), 0);
}

double
num_round_even(double x)
{
    uint64_t sign = dd_bits(x) & UINT64_C(1) << 63;
    double size = dd_from_bits(dd_bits(x) ^ sign);
    uint64_t n;
    double rest;

    if (x != x)
        return NUM_NAN;
    if (size >= 0x1p52)
        return x;
    n = (uint64_t)size;
    rest = size - (double)n;
    n += rest > 0.5 || (rest == 0.5 && n % 2 == 1);
    return dd_from_bits(dd_bits((double)n) | sign);
}

double
num_sqrt(double x)
{
    double root;

    if (x != x || x < 0)
        return NUM_NAN;
#if defined(__x86_64__)
    __asm__("sqrtsd %1, %0" : "=x"(root) : "x"(x));
#elif defined(__aarch64__)
    __asm__("fsqrt %d0, %d1" : "=w"(root) : "w"(x));
#else
#error "src/numerics: name the square root instruction of this machine"
#endif
    return root;
}
