/* SPDX-License-Identifier: MIT */
#include "elementary.h"

#include "double_double.h"
#include "erfcx_core.h"
#include "erfcx_table.h"
#include "exp_core.h"

/* DESIGN: erfc(y) = exp(-y^2) erfcx(y) for y >= 0, where erfcx, the scaled
 * function, falls slowly and smoothly, so that a short Taylor series about
 * the nearest of 39 centres gives it; y^2 is carried as hi + lo.
 *
 * The quantile is M. J. Wichura, "Algorithm AS 241: the percentage points of
 * the normal distribution", Applied Statistics 37, 1988 (PPND16: sixteen
 * figures), and one Newton step.  What the step needs is only the residual,
 * computed in hi + lo: near 1/2 from the Maclaurin series of the distribution
 * function, further out from exp and erfcx. */

enum { AS241_TERMS = 8, MACLAURIN_TERMS = 10 };

#define INV_SQRT_PI 0x1.20dd750429b6dp-1
#define SQRT_2PI ((struct dd){0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53})
#define SQRT_HALF_PI 0x1.40d931ff62706p+0

struct rational {
    double above[AS241_TERMS];
    double below[AS241_TERMS];
};

/* In (0.425^2 - q^2), in (r - 1.6), and in (r - 5). */
static const struct rational as241_centre = {
    {3.3871328727963666080e+0, 1.3314166789178437745e+2,
     1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
     5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static const struct rational as241_near = {
    {1.42343711074968357734e+0, 4.63033784615654529590e+0,
     5.76949722146069140550e+0, 3.64784832476320460504e+0,
     1.27045825245236838258e+0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e+0, 1.67638483018380384940e+0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static const struct rational as241_far = {
    {6.65790464350110377720e+0, 5.46378491116411436990e+0,
     1.78482653991729133580e+0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/* (-1)^n / (n! (2n + 1)): the distribution function less 1/2 is
 * x / sqrt(2 pi) times the series in x^2/2 with these. */
static const double maclaurin[MACLAURIN_TERMS] = {
    1.0,         -1 / 3.0,   1 / 10.0,     -1 / 42.0,    1 / 216.0,
    -1 / 1320.0, 1 / 9360.0, -1 / 75600.0, 1 / 685440.0, -1 / 6894720.0};

static double
polynomial(const double *c, int terms, double x)
{
    double sum = c[terms - 1];

    for (int i = terms - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* 0 <= y.hi <= 27.3 */
static struct dd
erfcx_near(struct dd y)
{
    uint64_t row = (dd_bits(y.hi + 1) - dd_bits(1)) >> 49;
    const struct erfcx_row *t = &erfcx_table[row];
    struct dd h = dd_sum(y.hi, -t->centre);
    struct dd linear = dd_product(t->a1, h.hi);
    struct dd s = dd_fast_sum(t->a0, linear.hi);
    double rest = h.hi * h.hi * polynomial(t->a, 14, h.hi);

    rest += t->a1 * (h.lo + y.lo) + t->a1_lo * h.hi;
    return dd_fast_sum(s.hi, s.lo + (linear.lo + (t->a0_lo + rest)));
}

/* The asymptotic series, NIST Handbook of Mathematical Functions, 7.12.1;
 * the first term left out is below 2^-56 of the sum. */
static struct dd
erfcx_far(double y)
{
    double t = 0.5 / (y * y);
    double s = 1 - 7 * t * (1 - 9 * t * (1 - 11 * t));

    s = 1 - t * (1 - 3 * t * (1 - 5 * t * s));
    return (struct dd){INV_SQRT_PI / y * s, 0};
}

struct dd
erfcx_core(struct dd y)
{
    return y.hi > ERFCX_TABLE_END ? erfcx_far(y.hi) : erfcx_near(y);
}

double
num_erfc(double y)
{
    double size = y < 0 ? -y : y;
    struct dd square, p, rest;
    struct scaled e;
    double unit;

    if (y != y)
        return NUM_NAN;
    if (y > 27.3)
        return 0;
    if (y < -6)
        return 2;
    if (size < 0x1p-56)
        return 1;
    square = dd_product(y, y);
    e = exp_core((struct dd){-square.hi, -square.lo});
    p = dd_multiply((struct dd){e.hi, e.lo}, erfcx_near((struct dd){size, 0}));
    if (y > 0)
        return scaled_round((struct scaled){p.hi, p.lo, e.exponent});
    unit = dd_power_of_two(e.exponent);
    rest = dd_fast_sum(2, -(p.hi * unit));
    return rest.hi + (rest.lo - p.lo * unit);
}

/* Quantile of tail = min(p, 1 - p), with q = p - 1/2; error some 1e-16. */
static double
as241(double tail, double q)
{
    const struct rational *f = &as241_centre;
    double t = 0.180625 - q * q;
    double factor = q;

    if (t < 0) {
        double r = num_sqrt(-num_log(tail));

        f = r <= 5 ? &as241_near : &as241_far;
        t = r <= 5 ? r - 1.6 : r - 5;
        factor = q < 0 ? -1 : 1;
    }
    return factor * (polynomial(f->above, AS241_TERMS, t) /
                     polynomial(f->below, AS241_TERMS, t));
}

/* Newton step from x, |x| < 0.33: distribution(x) = 1/2 + q is wanted. */
static double
step_in_centre(double x, double q)
{
    double t = 0.5 * x * x;
    double w = t * polynomial(maclaurin + 1, MACLAURIN_TERMS - 1, t);
    struct dd have = dd_multiply((struct dd){x, 0}, dd_fast_sum(1, w));
    struct dd want = dd_multiply((struct dd){q, 0}, SQRT_2PI);
    double residual = (want.hi - have.hi) + (want.lo - have.lo);

    return residual * (1 + t * (1 + 0.5 * t)); /* 1 / exp(-t), nearly */
}

/* Newton step from x > 0: distribution(-x) = tail is wanted. */
static double
step_in_tail(double x, double tail)
{
    struct dd y = dd_multiply((struct dd){x, 0}, INV_SQRT_2);
    struct dd square = dd_product(x, x);
    struct dd half = {0.5 * square.hi, 0.5 * square.lo};
    struct scaled e = exp_core((struct dd){-half.hi, -half.lo});
    struct dd have = dd_multiply((struct dd){e.hi, e.lo}, erfcx_near(y));
    int up = -e.exponent / 2;
    double want =
        2 * tail * dd_power_of_two(up) * dd_power_of_two(-e.exponent - up);
    double residual = (have.hi - want) + have.lo;

    return SQRT_HALF_PI * (residual / e.hi);
}

double
num_normal_quantile(double p)
{
    double q = p - 0.5;
    double tail = p < 0.5 ? p : 1 - p;
    double x;

    if (!(p >= 0 && p <= 1))
        return NUM_NAN;
    if (p == 0)
        return -NUM_INFINITY;
    if (p == 1)
        return NUM_INFINITY;
    x = as241(tail, q);
    if (-0.125 < q && q < 0.125)
        return x + step_in_centre(x, q);
    if (q < 0)
        return x - step_in_tail(-x, tail);
    return x + step_in_tail(x, tail);
}
