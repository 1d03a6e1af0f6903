/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/elementary.h"

#include "expected.h"

#include "data/numerics/power.inc"

static double
log1p_of(const struct expected *row)
{
    return num_log1p(row->x);
}

static double
expm1_of(const struct expected *row)
{
    return num_expm1(row->x);
}

static double
pow_of(const struct expected *row)
{
    return num_pow(row->x, row->y);
}

TEST(power_functions_are_within_their_errors)
{
    EXPECTED_CHECK(log1p_of, log1p_expected, 0.51);
    EXPECTED_CHECK(expm1_of, expm1_expected, 0.57);
    EXPECTED_CHECK(pow_of, pow_expected, 0.53);
}

TEST(power_log1p_and_expm1_at_the_edges)
{
    expected_bits(num_log1p(0.0), 0.0);
    expected_bits(num_log1p(-0.0), -0.0);
    expected_bits(num_log1p(0x1p-1074), 0x1p-1074);
    expected_bits(num_log1p(-1), -INFINITY);
    expected_bits(num_log1p(INFINITY), INFINITY);
    expected_bits(num_log1p(-1.5), NAN);
    expected_bits(num_log1p(-INFINITY), NAN);
    expected_bits(num_log1p(-NAN), NAN);
    expected_bits(num_expm1(0.0), 0.0);
    expected_bits(num_expm1(-0.0), -0.0);
    expected_bits(num_expm1(-0x1p-1074), -0x1p-1074);
    expected_bits(num_expm1(-INFINITY), -1);
    expected_bits(num_expm1(-38), -1);
    expected_bits(num_expm1(INFINITY), INFINITY);
    expected_bits(num_expm1(710), INFINITY);
    expected_bits(num_expm1(-NAN), NAN);
}

TEST(power_follows_annex_f)
{
    static const double numbers[] = {
        0.0,       -0.0,  1,      -1,     2,        -2,        0.5,
        -0.5,      3,     -3,     2.5,    INFINITY, -INFINITY, NAN,
        0x1p-1074, 1e300, -1e300, 0x1p53, 4e18,     -1e-300};
    enum { N = sizeof(numbers) / sizeof(*numbers) };

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double want = pow(numbers[i], numbers[j]);

            if (want - want == 0 && fabs(fabs(want) - 1) > 0 && want != 0)
                continue; /* a matter of rounding */
            expected_bits(num_pow(numbers[i], numbers[j]), want);
        }
    }
}

TEST(power_of_small_integers_is_exact)
{
    double value = 1;

    for (int i = 0; i <= 33; i++, value *= 3)
        expected_bits(num_pow(-3, i), i % 2 ? -value : value);
    for (int i = -1074; i < 1024; i++)
        expected_bits(num_pow(2, i), ldexp(1, i));
}
