/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/elementary.h"
#include "numerics/random.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

NOT_UNDER_TSAN;

/* DESIGN: each function is compared with long double at POINTS arguments that
 * are chosen by their number alone; the error is counted in units in the last
 * place of the double nearest to the reference, 2^-1074 at the least. */

enum { POINTS = 240000 };

struct scan {
    const char *name;
    double worst;
    double at;
};

static double
number(uint32_t i, uint32_t draw)
{
    struct random_stream s = random_stream(20, RANDOM_TEST, i, 0);

    return random_open(&s, draw);
}

/* From 2^low to 2^high, evenly in the logarithm. */
static double
spread(uint32_t i, double low, double high)
{
    double power = low + (high - low) * number(i, 2);

    return ldexp(1 + number(i, 3), (int)floor(power));
}

static void
compare(struct scan *s, double x, double got, long double want)
{
    int exponent;
    double error;

    frexpl(want, &exponent);
    if (exponent < DBL_MIN_EXP)
        exponent = DBL_MIN_EXP;
    error = (double)(fabsl(got - want) / ldexpl(1, exponent - DBL_MANT_DIG));
    CHECK(error < 1);
    if (error > s->worst) {
        s->worst = error;
        s->at = x;
    }
}

static void
need_long_double(void)
{
    if (LDBL_MANT_DIG < 64)
        SKIP("long double is no wider than double here");
}

static void
report(const struct scan *s)
{
    printf("# %s: worst error %.4f ulp, at %a\n", s->name, s->worst, s->at);
    CHECK(s->worst > 0.49); /* else the scan saw nothing */
    CHECK(s->worst < 0.56); /* what the header's one ulp rests on */
}

TEST(elementary_exp_is_within_one_ulp)
{
    struct scan s = {"exp", 0, 0};

    need_long_double();
    for (uint32_t i = 0; i < POINTS; i++) {
        double u = number(i, 0);
        double x = i % 4 == 0   ? -745 + 1454.7 * u
                   : i % 4 == 1 ? -708 - 37.1 * u /* subnormal results */
                   : i % 4 == 2 ? 2 * u - 1
                                : spread(i, -60, 9) * (i % 8 == 3 ? 1 : -1);

        compare(&s, x, num_exp(x), expl(x));
    }
    report(&s);
}

TEST(elementary_log_is_within_one_ulp)
{
    struct scan s = {"log", 0, 0};

    need_long_double();
    for (uint32_t i = 0; i < POINTS; i++) {
        double u = number(i, 0);
        double x = i % 4 == 0   ? 4 * u
                   : i % 4 == 1 ? 1 + (2 * u - 1) * spread(i, -50, -4)
                   : i % 4 == 2 ? spread(i, -1022, 1023)
                                : spread(i, -1074, -1022);

        if (x != 1)
            compare(&s, x, num_log(x), logl(x));
    }
    report(&s);
}

TEST(elementary_erfc_is_within_one_ulp)
{
    struct scan s = {"erfc", 0, 0};

    need_long_double();
    for (uint32_t i = 0; i < POINTS; i++) {
        double u = number(i, 0);
        double x = i % 4 == 0   ? 27.22 * u
                   : i % 4 == 1 ? -6.5 * u
                   : i % 4 == 2 ? 26.5 + 0.8 * u /* subnormal results */
                                : spread(i, -60, 2) * (i % 8 == 3 ? 1 : -1);

        compare(&s, x, num_erfc(x), erfcl(x));
    }
    report(&s);
}

/* Newton's method on the distribution function, from a start that is right
 * to five figures only; where p is near 1/2, on its odd part. */
static long double
quantile_reference(double p, double start)
{
    const long double sqrt_half = 0.707106781186547524400844362104849039L;
    const long double density = 0.398942280401432677939946059934381868L;
    long double x = start * (1 + 1e-5L);

    for (int i = 0; i < 4; i++) {
        long double excess;

        if (0.3 < p && p < 0.7)
            excess = erfl(x * sqrt_half) / 2 - (p - 0.5L);
        else if (p < 0.5)
            excess = erfcl(-x * sqrt_half) / 2 - p;
        else
            excess = (1 - (long double)p) - erfcl(x * sqrt_half) / 2;
        x -= excess / (density * expl(-x * x / 2));
    }
    return x;
}

TEST(elementary_normal_quantile_is_within_one_ulp)
{
    struct scan s = {"normal quantile", 0, 0};

    need_long_double();
    for (uint32_t i = 0; i < POINTS; i++) {
        double u = number(i, 0);
        double p = i % 4 == 0   ? u
                   : i % 4 == 1 ? 0.5 + (2 * u - 1) * spread(i, -50, -3)
                   : i % 4 == 2 ? spread(i, -1074, -2)
                                : 1 - spread(i, -53, -2);
        double x;

        if (p == 0.5 || p >= 1)
            continue;
        x = num_normal_quantile(p);
        compare(&s, p, x, quantile_reference(p, x));
    }
    report(&s);
}
