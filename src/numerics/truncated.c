/* SPDX-License-Identifier: MIT */
#include "truncated.h"

#include "double_double.h"
#include "erfcx_core.h"
#include "exp_core.h"

/* DESIGN: the quantile of a normal variable inside [a, b], by cases:
 *   narrow    Newton's method on the Taylor series of the mass about the
 *             middle, so that the error is small beside the width
 *   far       b <= 0 where the probability below x is too small for a double:
 *             Newton's method for d = b - x on ln(Phi(b - d)/Phi(b)) = ln r,
 *             which is smooth and concave.  It starts where the densities
 *             have the ratio r
 *   else      num_normal_quantile of the probability below x, or above it,
 *             whichever is smaller; both are sums of positive terms. */

#define LN_SQRT_2PI 0x1.d67f1c864beb5p-1
#define SQRT_2_OVER_PI 0x1.9884533d43651p-1
#define FAR_PROBABILITY 1e-290
#define FAR 1e154 /* larger squares overflow */
#define NARROW 0.0625

enum { NARROW_TERMS = 10, MOST_STEPS = 12 };

/* Of the integral of density(m + t)/density(m) over [0, s]: sum of
 * (-1)^k He_k(m) s^(k+1) / (k+1)!.  *slope: the integrand at s. */
static double
narrow_integral(double m, double s, double *slope)
{
    static const double inverse[NARROW_TERMS] = {
        1,       1 / 2.0, 1 / 3.0, 1 / 4.0, 1 / 5.0,
        1 / 6.0, 1 / 7.0, 1 / 8.0, 1 / 9.0, 1 / 10.0};
    double last = 0, here = 1; /* (-s)^k He_k / k! */
    double sum = 0;

    *slope = 0;
    for (int k = 0; k < NARROW_TERMS; k++) {
        double next = -s * inverse[k] * (m * here + s * last);

        *slope += here;
        sum += here * inverse[k];
        last = here;
        here = next;
    }
    return sum * s;
}

static double
narrow_quantile(double u, double a, double b)
{
    double m = 0.5 * (a + b);
    double h = 0.5 * (b - a);
    double slope;
    double below = narrow_integral(m, -h, &slope);
    double above = narrow_integral(m, h, &slope);
    double want = u <= 0.5 ? below + u * (above - below)
                           : above - (1 - u) * (above - below);
    double s = (2 * u - 1) * h;

    for (int i = 0; i < MOST_STEPS; i++) {
        double step = (want - narrow_integral(m, s, &slope)) / slope;

        s += step;
        if (step < 0x1p-28 * h && step > -0x1p-28 * h)
            break; /* the error is squared by each step */
    }
    return u <= 0.5 ? a + (h + s) : b - (h - s);
}

static double
scaled_tail(double x)
{
    struct dd y = dd_multiply((struct dd){x, 0}, INV_SQRT_2);
    struct dd f = erfcx_core(y);

    return f.hi + f.lo;
}

/* a < b <= 0. */
static double
far_quantile(double u, double a, double b)
{
    double size = -b;
    double here = scaled_tail(size);
    double ratio = 0, r, d;

    if (size > FAR)
        return b; /* 1/|b| is nothing beside it */
    if (a >= -FAR)
        ratio = num_exp(-0.5 * (b - a) * (-a - b)) * (scaled_tail(-a) / here);
    r = -num_log(u + (1 - u) * ratio);
    d = 2 * r / (size + num_sqrt(size * size + 2 * r));
    for (int i = 0; i < MOST_STEPS; i++) {
        double there = scaled_tail(size + d);
        double excess = r - d * (size + 0.5 * d) + num_log(there / here);
        double step = excess * there * (1 / SQRT_2_OVER_PI);

        d += step;
        if (!(step > 0x1p-50 * d || step < -0x1p-50 * d))
            break;
    }
    return b - d;
}

/* a <= 0, not narrow. */
static double
plain_quantile(double u, double a, double b)
{
    double below = (1 - u) * num_normal_cdf(a) + u * num_normal_cdf(b);
    double above;

    if (b <= 0 && below < FAR_PROBABILITY)
        return far_quantile(u, a, b);
    if (below <= 0.5)
        return num_normal_quantile(below);
    above = (1 - u) * num_normal_cdf(-a) + u * num_normal_cdf(-b);
    return -num_normal_quantile(above);
}

double
num_truncated_normal_quantile(double u, double a, double b)
{
    double m = 0.5 * (a + b);
    double x;

    if (!(u >= 0 && u <= 1 && a <= b))
        return NUM_NAN;
    if (u == 0 || a == b)
        return a;
    if (u == 1)
        return b;
    if (0.5 * (b - a) * ((m < 0 ? -m : m) + 1) <= NARROW)
        x = narrow_quantile(u, a, b);
    else if (a <= 0)
        x = plain_quantile(u, a, b);
    else
        x = -plain_quantile(1 - u, -b, -a);
    return x < a ? a : x > b ? b : x;
}

struct num_truncated
num_truncated(double mean, double sigma, double low, double high)
{
    struct num_truncated t = {mean, sigma, low, high, NUM_NAN};

    if (sigma > 0 && sigma <= DBL_MAX && mean - mean == 0 && low < high)
        t.log_mass =
            num_log_normal_mass((low - mean) / sigma, (high - mean) / sigma);
    return t;
}

double
num_truncated_log_density(const struct num_truncated *t, double x)
{
    double z = (x - t->mean) / t->sigma;

    if (t->log_mass != t->log_mass || x != x)
        return NUM_NAN;
    if (x < t->low || x > t->high)
        return -NUM_INFINITY;
    return -0.5 * z * z - (LN_SQRT_2PI + num_log(t->sigma) + t->log_mass);
}

double
num_truncated_log_mass(const struct num_truncated *t, double from, double to)
{
    if (t->log_mass != t->log_mass || from != from || to != to)
        return NUM_NAN;
    if (from < t->low)
        from = t->low;
    if (to > t->high)
        to = t->high;
    if (from >= to)
        return -NUM_INFINITY;
    return num_log_normal_mass((from - t->mean) / t->sigma,
                               (to - t->mean) / t->sigma) -
           t->log_mass;
}

double
num_truncated_log_cell(const struct num_truncated *t, double v, double q)
{
    return num_truncated_log_mass(t, v - 0.5 * q, v + 0.5 * q);
}

double
num_truncated_quantile(const struct num_truncated *t, double u)
{
    double z, x;

    if (t->log_mass != t->log_mass)
        return NUM_NAN;
    z = num_truncated_normal_quantile(u, (t->low - t->mean) / t->sigma,
                                      (t->high - t->mean) / t->sigma);
    x = t->mean + t->sigma * z;
    if (z != z)
        return NUM_NAN;
    return x < t->low ? t->low : x > t->high ? t->high : x;
}
