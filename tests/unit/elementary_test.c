/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/elementary.h"
#include "numerics/random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

NOT_UNDER_TSAN;

struct golden {
    double (*f)(double x);
    double x;
    uint64_t bits;
};

/* The nearest doubles to the true values, from 113-bit arithmetic. */
static const struct golden goldens[] = {
    {num_exp, 0x1p+0, 0x4005bf0a8b145769u},
    {num_exp, -0x1p+0, 0x3fd78b56362cef38u},
    {num_exp, 0x1p-1, 0x3ffa61298e1e069cu},
    {num_exp, 0x1p-30, 0x3ff0000000400000u},
    {num_exp, -0x1p-54, 0x3ff0000000000000u},
    {num_exp, 0x1.ap+1, 0x4039ca53b781114bu},
    {num_exp, 0x1.4p+3, 0x40d5829dcf950560u},
    {num_exp, -0x1.42p+4, 0x3e1f3fe0cb68b20cu},
    {num_exp, 0x1.9p+6, 0x48f3494a9b171bf5u},
    {num_exp, 0x1.2c8p+8, 0x5b0719c25b8f5b4au},
    {num_exp, 0x1.62ep+9, 0x7feef85a11e73f2du},
    {num_exp, -0x1.62eb1c432ca58p-2, 0x3fe6a0773cd678a4u},
    {num_exp, 0x1.62f166e008e9bp-8, 0x3ff0163e7e90268du},
    {num_exp, -0x1.624p+9, 0x000e6cf6d08897acu},
    {num_exp, -0x1.682p+9, 0x000000077564144fu},
    {num_exp, -0x1.748p+9, 0x0000000000000001u},
    {num_log, 0x1p+1, 0x3fe62e42fefa39efu},
    {num_log, 0x1.4p+3, 0x40026bb1bbb55516u},
    {num_log, 0x1p-1, 0xbfe62e42fefa39efu},
    {num_log, 0x1.8p+0, 0x3fd9f323ecbf984cu},
    {num_log, 0x1.8p+1, 0x3ff193ea7aad030bu},
    {num_log, 0x1.fffffffffffffp-1, 0xbca0000000000000u},
    {num_log, 0x1.0000000000001p+0, 0x3cafffffffffffffu},
    {num_log, 0x1.ff7ced916872bp-1, 0xbf5064670d979b73u},
    {num_log, 0x1.02p+0, 0x3f7fe02a6b106789u},
    {num_log, 0x1.6p-1, 0xbfd7fafa3bd8151cu},
    {num_log, 0x1.6p+0, 0x3fd4618bc21c5ec2u},
    {num_log, 0x1.56e1fc2f8f359p-997, 0xc085963447f87fb5u},
    {num_log, 0x1.7e43c8800759cp+996, 0x4085963447f87fb5u},
    {num_log, 0x0.0000000000001p-1022, 0xc0874385446d71c3u},
    {num_log, 0x0.00006p-1022, 0xc08683bda6788ae4u},
    {num_log, 0x1.fffffffffffffp+1023, 0x40862e42fefa39efu},
    {num_erfc, 0x1p-1, 0x3fdeb02147ce245cu},
    {num_erfc, -0x1p-1, 0x3ff853f7ae0c76e9u},
    {num_erfc, 0x1p+0, 0x3fc4226162fbddd5u},
    {num_erfc, -0x1p+0, 0x3ffd7bb3d3a08445u},
    {num_erfc, 0x1.47ae147ae147bp-7, 0x3fefa390f6666a12u},
    {num_erfc, -0x1.47ae147ae147bp-7, 0x3ff02e3784cccaf7u},
    {num_erfc, 0x1p+1, 0x3f7328f5ec350e67u},
    {num_erfc, 0x1.cp+1, 0x3ea8ef2a9a18d857u},
    {num_erfc, -0x1.cp+1, 0x3fffffff3886ab2fu},
    {num_erfc, 0x1.4p+2, 0x3d7b0c1a759f7739u},
    {num_erfc, 0x1.4p+3, 0x36a7d8a7f2a8a2d0u},
    {num_erfc, 0x1.e2p+3, 0x2b2eb86f931c309du},
    {num_erfc, 0x1.4p+4, 0x1b8b54f244df93dfu},
    {num_erfc, 0x1.a8p+4, 0x0043df6725a60cf5u},
    {num_erfc, 0x1.acp+4, 0x0000001111ab5ef8u},
    {num_erfc, 0x1.b35c28f5c28f6p+4, 0x0000000000000001u},
    {num_normal_quantile, 0x1p-2, 0xbfe5956b87528a49u},
    {num_normal_quantile, 0x1.8p-1, 0x3fe5956b87528a49u},
    {num_normal_quantile, 0x1.f333333333333p-1, 0x3fff5c0331eeff83u},
    {num_normal_quantile, 0x1.999999999999ap-6, 0xbfff5c0331eeff85u},
    {num_normal_quantile, 0x1.0624dd2f1a9fcp-10, 0xc008b8cbb7204471u},
    {num_normal_quantile, 0x1.ff7ced916872bp-1, 0x4008b8cbb7204470u},
    {num_normal_quantile, 0x1.cp-2, 0xbfc422c1aadb2493u},
    {num_normal_quantile, 0x1.2p-1, 0x3fc422c1aadb2493u},
    {num_normal_quantile, 0x1.0000000000001p-1, 0x3cb40d931ff62706u},
    {num_normal_quantile, 0x1.fffffffffffffp-2, 0xbca40d931ff62706u},
    {num_normal_quantile, 0x1.8p-2, 0xbfd464965bdc7eafu},
    {num_normal_quantile, 0x1.7ef9db22d0e56p-2, 0xbfd48fd016b24ff9u},
    {num_normal_quantile, 0x1.b7cdfd9d7bdbbp-34, 0xc0197203597a2155u},
    {num_normal_quantile, 0x1p-53, 0xc0206b48528cea52u},
    {num_normal_quantile, 0x1.56e1fc2f8f359p-997, 0xc04286074064c26eu},
    {num_normal_quantile, 0x0.0000000000001p-1022, 0xc0433bd3f27fcd03u},
};

static uint64_t
bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static void
check_bits(double got, uint64_t want)
{
    char got_text[24], want_text[24];

    snprintf(got_text, sizeof(got_text), "%016llx",
             (unsigned long long)bits_of(got));
    snprintf(want_text, sizeof(want_text), "%016llx", (unsigned long long)want);
    CHECK_STR(got_text, want_text);
}

static void
check_same(double got, double want)
{
    check_bits(got, bits_of(want));
}

static void
check_nan(double got)
{
    check_bits(got, 0x7ff8000000000000);
}

TEST(elementary_bits_never_change)
{
    for (size_t i = 0; i < sizeof(goldens) / sizeof(*goldens); i++)
        check_bits(goldens[i].f(goldens[i].x), goldens[i].bits);
}

TEST(elementary_exp_at_the_edges)
{
    check_same(num_exp(0.0), 1);
    check_same(num_exp(-0.0), 1);
    check_same(num_exp(0x1p-1074), 1);
    check_same(num_exp(-0x1p-1074), 1);
    check_same(num_exp(INFINITY), INFINITY);
    check_same(num_exp(-INFINITY), 0);
    check_nan(num_exp(NAN));
    check_nan(num_exp(-NAN));
    check_same(num_exp(0x1.62e42fefa39efp+9), 0x1.fffffffffff2ap+1023);
    check_same(num_exp(0x1.62e42fefa39fp+9), INFINITY);
    check_same(num_exp(1e300), INFINITY);
    check_same(num_exp(-0x1.74910d52d3051p+9), 0x1p-1074);
    check_same(num_exp(-0x1.74910d52d3052p+9), 0);
    check_same(num_exp(-1e300), 0);
}

TEST(elementary_log_at_the_edges)
{
    check_same(num_log(1), 0);
    check_same(num_log(0.0), -INFINITY);
    check_same(num_log(-0.0), -INFINITY);
    check_same(num_log(INFINITY), INFINITY);
    check_nan(num_log(-0x1p-1074));
    check_nan(num_log(-1));
    check_nan(num_log(-INFINITY));
    check_nan(num_log(NAN));
    check_nan(num_log(-NAN));
}

TEST(elementary_erfc_at_the_edges)
{
    check_same(num_erfc(0.0), 1);
    check_same(num_erfc(-0.0), 1);
    check_same(num_erfc(0x1p-1074), 1);
    check_same(num_erfc(-0x1p-1074), 1);
    check_same(num_erfc(-6.5), 2);
    check_same(num_erfc(-INFINITY), 2);
    check_same(num_erfc(27.3), 0);
    check_same(num_erfc(28), 0);
    check_same(num_erfc(1e300), 0);
    check_same(num_erfc(INFINITY), 0);
    check_nan(num_erfc(NAN));
    check_nan(num_erfc(-NAN));
}

TEST(elementary_normal_quantile_at_the_edges)
{
    check_same(num_normal_quantile(0.0), -INFINITY);
    check_same(num_normal_quantile(-0.0), -INFINITY);
    check_same(num_normal_quantile(0.5), 0);
    check_same(num_normal_quantile(1), INFINITY);
    check_same(num_normal_quantile(1 - 0x1p-53), 0x1.06b48528cea52p+3);
    check_nan(num_normal_quantile(-0x1p-1074));
    check_nan(num_normal_quantile(1 + 0x1p-52));
    check_nan(num_normal_quantile(INFINITY));
    check_nan(num_normal_quantile(-INFINITY));
    check_nan(num_normal_quantile(NAN));
}

TEST(elementary_normal_quantile_is_odd_about_one_half)
{
    struct random_stream s = random_stream(3, RANDOM_TEST, 0, 0);

    for (uint32_t i = 0; i < 20000; i++) {
        double u = random_open(&s, i);

        check_same(num_normal_quantile(u), -num_normal_quantile(1 - u));
    }
}

TEST(elementary_round_even_rounds_halves_to_even)
{
    static const double pairs[][2] = {
        {0.0, 0.0},
        {-0.0, -0.0},
        {0.5, 0.0},
        {-0.5, -0.0},
        {0.25, 0.0},
        {-0.3, -0.0},
        {0.75, 1},
        {1.5, 2},
        {2.5, 2},
        {-2.5, -2},
        {-3.5, -4},
        {2.4, 2},
        {-2.6, -3},
        {1e300, 1e300},
        {0x1.fffffffffffffp-2, 0},
        {0x1.fffffffffffffp-1, 1},
        {0x1.fffffffffffffp51, 0x1p52},
        {0x1.ffffffffffffdp51, 0x1.ffffffffffffcp51},
        {0x1.fffffffffffffp52, 0x1.fffffffffffffp52},
        {0x1p-1074, 0},
        {INFINITY, INFINITY},
        {-INFINITY, -INFINITY},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        check_same(num_round_even(pairs[i][0]), pairs[i][1]);
    check_nan(num_round_even(NAN));
    check_nan(num_round_even(-NAN));
}

TEST(elementary_sqrt_is_correctly_rounded)
{
    struct random_stream s = random_stream(4, RANDOM_TEST, 0, 0);

    check_same(num_sqrt(0.0), 0.0);
    check_same(num_sqrt(-0.0), -0.0);
    check_same(num_sqrt(0x1p-1074), 0x1p-537);
    check_same(num_sqrt(INFINITY), INFINITY);
    check_nan(num_sqrt(-0x1p-1074));
    check_nan(num_sqrt(-INFINITY));
    check_nan(num_sqrt(NAN));
    check_nan(num_sqrt(-NAN));
    for (uint32_t i = 0; i < 100000; i++) {
        double x = ldexp(random_open(&s, i), (int)(i % 2000) - 1000);

        check_same(num_sqrt(x), sqrt(x));
    }
}

/* Between x and the next double f must not go the wrong way. */
static void
check_monotone(double (*f)(double x), double from, double to, int direction)
{
    struct random_stream s = random_stream(1, RANDOM_TEST, 2, 0);

    for (uint32_t i = 0; i < 50000; i++) {
        double x = from + (to - from) * random_uniform(&s, i);
        double here = f(x);
        double there = f(nextafter(x, INFINITY));

        CHECK(direction > 0 ? there >= here : there <= here);
    }
}

TEST(elementary_functions_are_monotone)
{
    check_monotone(num_exp, -745, 709, 1);
    check_monotone(num_exp, -1, 1, 1);
    check_monotone(num_log, 0, 4, 1);
    check_monotone(num_log, 0.99, 1.01, 1);
    check_monotone(num_erfc, -6, 27, -1);
    check_monotone(num_erfc, -1, 1, -1);
    check_monotone(num_normal_quantile, 0, 1, 1);
    check_monotone(num_normal_quantile, 0.374, 0.376, 1);
    check_monotone(num_normal_quantile, 0.074, 0.076, 1);
}
