/* SPDX-License-Identifier: MIT */
#include "normal.h"

#include "double_double.h"
#include "erfcx_core.h"
#include "exp_core.h"
#include "log_core.h"

#include <stdbool.h>

/* DESIGN: for x <= 0, Phi(x) = exp(-x^2/2) erfcx(-x/sqrt 2) / 2, where the
 * last factor is of moderate size, so that the logarithm is a sum of negative
 * terms.  What is right of zero is mirrored, or taken from one.
 *
 * The mass of [a, b], with m = (a + b)/2 and h = (b - a)/2:
 *   narrow    h (|m| + 1) <= 1/16: the density at m, times 2h, times
 *             1 + sum h^(2k) He_2k(m) / (2k + 1)!, as the density is
 *             sum (-t)^k He_k(m) / k! times that at m (M. Abramowitz,
 *             I. A. Stegun, Handbook of Mathematical Functions, 22.9.17)
 *   one side  b <= 0: exp(-b^2/2)/2 times
 *             erfcx(-b/sqrt 2) - exp(-(a^2 - b^2)/2) erfcx(-a/sqrt 2)
 *   else      1 - Phi(a) - Phi(-b)
 * The last two differences lose at most five bits, as the interval is not
 * narrow, and hi + lo has six to spare. */

#define LN_2 ((struct dd){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56})
#define HALF_LN_2PI ((struct dd){0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55})
#define FAR 1e154 /* larger squares overflow */
#define NARROW 0.0625

enum { NARROW_TERMS = 4 };

static struct dd
dd_add(struct dd a, struct dd b)
{
    struct dd s = dd_sum(a.hi, b.hi);

    return dd_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static struct dd
dd_negate(struct dd a)
{
    return (struct dd){-a.hi, -a.lo};
}

static struct dd
dd_half(struct dd a)
{
    return (struct dd){0.5 * a.hi, 0.5 * a.lo};
}

/* erfcx(x / sqrt 2), 0 <= x <= FAR. */
static struct dd
scaled_tail(double x)
{
    return erfcx_core(dd_multiply((struct dd){x, 0}, INV_SQRT_2));
}

/* x^2/2, |x| <= FAR. */
static struct dd
half_square(double x)
{
    return dd_half(dd_product(x, x));
}

/* Phi(-x), 0 <= x < 39. */
static struct scaled
tail(double x)
{
    struct scaled e = exp_core(dd_negate(half_square(x)));
    struct dd p = dd_multiply((struct dd){e.hi, e.lo}, scaled_tail(x));

    return (struct scaled){p.hi, p.lo, e.exponent - 1};
}

/* The same; 0 where it is too small to be told from nothing beside 1. */
static struct dd
tail_beside_one(double x)
{
    struct scaled p;
    double unit;

    if (x > 12)
        return (struct dd){0, 0};
    p = tail(x);
    unit = dd_power_of_two(p.exponent);
    return (struct dd){p.hi * unit, p.lo * unit};
}

double
num_normal_cdf(double x)
{
    struct dd rest;

    if (x != x)
        return NUM_NAN;
    if (x < -38.6)
        return 0;
    if (x > 8.3)
        return 1; /* what is missing is less than half of its last place */
    if (x <= 0)
        return scaled_round(tail(-x));
    rest = dd_add((struct dd){1, 0}, dd_negate(tail_beside_one(x)));
    return rest.hi;
}

/* -b^2/2 - ln 2 + ln(factor), -FAR <= b <= 0. */
static double
log_of_tail(double b, struct dd factor)
{
    struct dd size = dd_add(half_square(b), LN_2);

    return dd_add(log_core(factor), dd_negate(size)).hi;
}

double
num_log_normal_cdf(double x)
{
    struct dd p;

    if (x != x)
        return NUM_NAN;
    if (x < -FAR)
        return -NUM_INFINITY;
    if (x <= 0)
        return log_of_tail(x, scaled_tail(-x));
    if (x > 9)
        return 0 - num_normal_cdf(-x); /* Phi(-x)^2/2 is nothing beside it */
    p = dd_add((struct dd){1, 0}, dd_negate(tail_beside_one(x)));
    return log_core(p).hi;
}

/* The sum over k >= 1 of the narrow mass. */
static double
narrow_series(double m, double h)
{
    static const double factorials[NARROW_TERMS] = {6, 120, 5040, 362880};
    double last = 1, here = m; /* He_(n-1), He_n */
    double power = 1, sum = 0;
    double terms[NARROW_TERMS];

    for (int n = 1; n < 2 * NARROW_TERMS; n++) {
        double next = m * here - n * last;

        last = here;
        here = next;
        if (n % 2 == 0)
            continue;
        power *= h * h;
        terms[n / 2] = power * here / factorials[n / 2];
    }
    for (int k = NARROW_TERMS - 1; k >= 0; k--)
        sum += terms[k];
    return sum;
}

/* The width may be too small to have a normal logarithm. */
static struct dd
log_of_width(struct dd width)
{
    if (width.hi < 0x1p-900)
        return log_core((struct dd){width.hi, 0});
    return log_core(width);
}

static double
narrow_mass(double a, double b)
{
    struct dd m = dd_half(dd_sum(a, b));
    struct dd width = dd_sum(b, -a);
    double series = num_log1p(narrow_series(m.hi, 0.5 * width.hi));
    struct dd size = dd_add(dd_half(dd_multiply(m, m)), HALF_LN_2PI);
    struct dd sum = dd_add(log_of_width(width), dd_negate(size));

    return sum.hi + (sum.lo + series);
}

/* exp(-(a^2 - b^2)/2), a < b <= 0: the ratio of the densities. */
static struct dd
density_ratio(double a, double b)
{
    struct dd product = dd_multiply(dd_sum(b, -a), dd_sum(-a, -b));
    struct scaled e;
    double unit;

    if (!(product.hi < 160))
        return (struct dd){0, 0};
    e = exp_core(dd_negate(dd_half(product)));
    unit = dd_power_of_two(e.exponent);
    return (struct dd){e.hi * unit, e.lo * unit};
}

/* a < b <= 0, not narrow. */
static double
one_sided_mass(double a, double b)
{
    struct dd here = scaled_tail(-b);
    struct dd ratio = {0, 0};

    if (a >= -FAR)
        ratio = density_ratio(a, b);
    if (ratio.hi > 0)
        here = dd_add(here, dd_negate(dd_multiply(ratio, scaled_tail(-a))));
    return log_of_tail(b, here);
}

/* a < 0 < b, not narrow. */
static double
two_sided_mass(double a, double b)
{
    struct dd out = dd_add(tail_beside_one(-a), tail_beside_one(b));

    if (-a > 9 && b > 9)
        return 0 - (num_normal_cdf(a) + num_normal_cdf(-b));
    return log_core(dd_add((struct dd){1, 0}, dd_negate(out))).hi;
}

static bool
is_narrow(double a, double b)
{
    double m = 0.5 * (a + b);

    return 0.5 * (b - a) * ((m < 0 ? -m : m) + 1) <= NARROW;
}

double
num_log_normal_mass(double a, double b)
{
    if (!(a <= b))
        return NUM_NAN;
    if (a == b)
        return -NUM_INFINITY;
    if (a >= 0)
        return num_log_normal_mass(-b, -a);
    if (b < -FAR)
        return -NUM_INFINITY;
    if (is_narrow(a, b))
        return narrow_mass(a, b);
    return b <= 0 ? one_sided_mass(a, b) : two_sided_mass(a, b);
}
