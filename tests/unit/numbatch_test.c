/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/batch.h"
#include "numerics/elementary.h"
#include "numerics/normal.h"
#include "numerics/random.h"

#include "expected.h"

NOT_UNDER_TSAN;

enum { POINTS = 5000 };

static double
number(uint32_t i, uint32_t draw)
{
    struct random_stream s = random_stream(8, RANDOM_TEST, i, 0);

    return random_open(&s, draw);
}

/* All kinds, the usual ones often. */
static double
argument(uint32_t i)
{
    static const double odd[] = {
        0.0,   -0.0,    INFINITY, -INFINITY,  NAN,     709.7827, 709.783,
        710,   -708.39, -708.4,   -745.13321, -745.14, -746,     0x1p-1074,
        1e300, -1e300,  0x1p-60,  1,          -1,      1e-5};

    if (i % 16 == 0)
        return odd[i / 16 % (sizeof(odd) / sizeof(*odd))];
    if (i % 16 == 1)
        return -700 - 50 * number(i, 0);
    return i % 2 ? 20 * number(i, 0) - 20 : 1460 * number(i, 0) - 748;
}

TEST(numerics_batch_exp_is_exp)
{
    double in[POINTS], out[POINTS + 1];

    for (uint32_t i = 0; i < POINTS; i++)
        in[i] = argument(i);
    for (size_t n = 0; n < 70; n++) {
        out[n] = 42;
        num_exp_n(in + n, out, n);
        expected_bits(out[n], 42);
        for (size_t i = 0; i < n; i++)
            expected_bits(out[i], num_exp(in[n + i]));
    }
    num_exp_n(in, out, POINTS);
    for (size_t i = 0; i < POINTS; i++)
        expected_bits(out[i], num_exp(in[i]));
    num_exp_n(in, in, POINTS);
    CHECK(memcmp(in, out, sizeof(in)) == 0);
}

TEST(numerics_batch_least_sum_is_a_bound)
{
    double in[8], sum, least;

    for (uint32_t i = 0; i < POINTS; i++) {
        sum = 0;
        for (uint32_t k = 0; k < 8; k++) {
            in[k] = (i % 7 == 0 ? 1400 : i % 7 * 3) * (number(i, k) - 0.5);
            sum += num_exp(in[k] - 2.5);
        }
        least = num_sum_exp_least(in, 2.5, 8);
        CHECK(least <= sum + 1e-300 && least >= 0.93 * sum);
    }
    in[0] = in[1] = in[2] = in[3] = -INFINITY;
    CHECK(num_sum_exp_least(in, 0, 4) < 1e-300);
}

TEST(numerics_batch_mass_is_mass)
{
    double a[POINTS], b[POINTS], out[POINTS];

    for (uint32_t i = 0; i < POINTS; i++) {
        a[i] = i % 50 == 0 ? argument(i) : 20 * number(i, 1) - 10;
        b[i] =
            i % 50 == 7 ? argument(i) : a[i] + ldexp(number(i, 2), 5 - i % 20);
    }
    num_log_normal_mass_n(a, b, out, POINTS);
    for (size_t i = 0; i < POINTS; i++)
        expected_bits(out[i], num_log_normal_mass(a[i], b[i]));
    for (size_t n = 0; n < 8; n++) {
        out[n] = 42;
        num_normal_mass_n(a + n, b + n, out, n);
        expected_bits(out[n], 42);
    }
    num_normal_mass_n(a, b, out, POINTS);
    for (size_t i = 0; i < POINTS; i++)
        expected_bits(out[i], num_normal_mass(a[i], b[i]));
    num_log_normal_mass_n(a, b, out, POINTS);
    num_log_normal_mass_n(a, b, a, POINTS);
    CHECK(memcmp(a, out, sizeof(a)) == 0);
}

TEST(numerics_log_sum_exp_at_the_edges)
{
    double v[] = {-INFINITY, -3, INFINITY, NAN};

    expected_bits(num_log_sum_exp(v, 0), -INFINITY);
    expected_bits(num_log_sum_exp(v, 1), -INFINITY);
    expected_bits(num_log_sum_exp(v, 2), -3);
    expected_bits(num_log_sum_exp(v, 3), INFINITY);
    expected_bits(num_log_sum_exp(v, 4), NAN);
    v[0] = v[1] = 1e308;
    expected_bits(num_log_sum_exp(v, 2), 1e308);
    v[0] = v[1] = -1e308;
    expected_bits(num_log_sum_exp(v, 2), -1e308);
    v[0] = v[1] = 0;
    expected_bits(num_log_sum_exp(v, 2), 0x1.62e42fefa39efp-1);
}

TEST(numerics_log_sum_exp_is_within_its_error)
{
    double v[200];

    for (uint32_t round = 0; round < 400; round++) {
        size_t n = 1 + round % 200;
        double shift = round % 3 ? 0 : 1000 * number(round, 3) - 500;
        long double sum = 0, want;

        for (size_t i = 0; i < n; i++) {
            v[i] =
                shift - (double)(round % 60) * number(round, 4 + (uint32_t)i);
            sum += expl((long double)v[i] - (long double)shift);
        }
        want = logl(sum) + (long double)shift;
        CHECK(fabs((double)(num_log_sum_exp(v, n) - want)) <
              0x1p-52 * (2 + log((double)n)) + expected_ulp((double)want));
    }
}
