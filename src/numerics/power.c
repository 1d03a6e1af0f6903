/* SPDX-License-Identifier: MIT */
#include "elementary.h"

#include "double_double.h"
#include "exp_core.h"
#include "log_core.h"
#include "log_table.h"

#include <stdbool.h>

/* DESIGN: x^y = exp(y log x) needs the logarithm to eleven bits more than a
 * double has.  log_core is the reduction of num_log (Tang 1990, see
 * elementary.c) with the square of the Taylor series, too, in hi + lo.  With
 * an argument in hi + lo it gives log1p, whose 1 + x is one. */

/* ln2; the first part a multiple of 2^-42, as in the table. */
#define LN2_HI 0x1.62e42fefa38p-1
#define LN2_LO 0x1.ef35793c7673p-45

/* ln(1 + r) - r + r^2/2 over r^3, |r| < 0.008. */
static double
cubic_and_up(double r)
{
    double q = 1 / 7.0 + r * (-0.125 + r * (1 / 9.0 + r * -0.1));

    return 1 / 3.0 + r * (-0.25 + r * (0.2 + r * (-1 / 6.0 + r * q)));
}

/* t->hi + t->lo + k ln2 + ln(1 + r). */
static struct dd
log_sum(const struct log_row *t, double k, struct dd r)
{
    struct dd square = dd_product(r.hi, r.hi);
    struct dd s = dd_sum(k * LN2_HI + t->hi, r.hi);
    struct dd p = dd_sum(s.hi, -0.5 * square.hi);
    double low = (r.lo - r.hi * r.lo) - 0.5 * square.lo;

    low += r.hi * square.hi * cubic_and_up(r.hi);
    low += t->lo + k * LN2_LO;
    return dd_fast_sum(p.hi, p.lo + (s.lo + low));
}

struct dd
log_core(struct dd x)
{
    const uint64_t origin = 0x3fe6000000000000u; /* z from 0.6875 to 1.375 */
    const uint64_t one = 0x3ff0000000000000u;
    int e = x.hi < DBL_MIN ? -52 : 0;
    uint64_t bits = dd_bits(e == 0 ? x.hi : x.hi * 0x1p52);
    uint64_t offset = bits - origin + one;
    const struct log_row *t = &log_table[offset >> 45 & 127];
    int n = (int)(offset >> 52) - 1023;
    uint64_t z_bits = bits - ((uint64_t)(int64_t)n << 52);
    double z_hi = dd_from_bits(z_bits & ~UINT64_C(0) << 27);
    double z_lo = dd_from_bits(z_bits) - z_hi;
    struct dd r = dd_sum(z_hi * t->c - 1, z_lo * t->c); /* exact: c is short */

    if (x.lo != 0)
        r = dd_sum(r.hi, r.lo + x.lo * dd_power_of_two(-n) * t->c);
    return log_sum(t, n + e, r);
}

double
num_log1p(double x)
{
    double size = x < 0 ? -x : x;

    if (x != x || x < -1)
        return NUM_NAN;
    if (x == -1)
        return -NUM_INFINITY;
    if (size < 0x1p-54)
        return x;
    if (x > 0x1p60)
        return num_log(x);
    return log_core(dd_sum(1, x)).hi;
}

/* e^x - 1 by its Taylor series, |x| <= 1/8. */
static double
expm1_near_zero(double x)
{
    struct dd square = dd_product(x, x);
    double q = 1 / 40320.0 + x * (1 / 362880.0 + x * (1 / 3628800.0));
    struct dd s;

    q = 1 / 120.0 + x * (1 / 720.0 + x * (1 / 5040.0 + x * q));
    q = x * square.hi * (1 / 6.0 + x * (1 / 24.0 + x * q));
    s = dd_fast_sum(x, 0.5 * square.hi);
    return s.hi + (s.lo + (0.5 * square.lo + q));
}

double
num_expm1(double x)
{
    double size = x < 0 ? -x : x;
    struct scaled s;
    struct dd rest;
    double unit;

    if (x != x)
        return NUM_NAN;
    if (x > 710)
        return NUM_INFINITY;
    if (x < -38)
        return -1;
    if (size < 0x1p-54)
        return x;
    if (size < 0.125)
        return expm1_near_zero(x);
    s = exp_core((struct dd){x, 0});
    if (s.exponent > 60)
        return scaled_round(s);
    unit = dd_power_of_two(s.exponent);
    rest = dd_sum(s.hi * unit, -1);
    return rest.hi + (rest.lo + s.lo * unit);
}

static bool
is_integer(double y)
{
    return y - y == 0 && num_round_even(y) == y;
}

static bool
is_odd(double y)
{
    return is_integer(y) && !is_integer(y * 0.5);
}

/* x^y for x > 0, both finite, x != 1. */
static double
pow_positive(double x, double y)
{
    struct dd log = log_core((struct dd){x, 0});
    double rough = y * log.hi; /* may overflow: then it decides */
    struct dd product;

    if (rough > 710)
        return NUM_INFINITY;
    if (rough < -746)
        return 0;
    if ((rough < 0 ? -rough : rough) < 0x1p-54)
        return 1;
    product = dd_multiply((struct dd){y, 0}, log);
    return scaled_round(exp_core(product));
}

/* |x|^y where one of them is 0 or infinite, y is not 0 and x is not +-1. */
static double
pow_at_the_edges(double size, double y)
{
    bool grows = (size > 1) == (y > 0);

    return grows ? NUM_INFINITY : 0;
}

double
num_pow(double x, double y)
{
    double size = x < 0 ? -x : x;
    double value;

    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return NUM_NAN;
    if (x < 0 && y - y == 0 && x - x == 0 && !is_integer(y))
        return NUM_NAN;
    if (size == 1)
        value = 1;
    else if (size == 0 || size > DBL_MAX || y > DBL_MAX || y < -DBL_MAX)
        value = pow_at_the_edges(size, y);
    else
        value = pow_positive(size, y);
    return dd_bits(x) >> 63 && is_odd(y) ? -value : value;
}
