/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/random.h"
#include "numerics/truncated.h"

#include "expected.h"

#include "data/numerics/truncated.inc"

TEST(truncated_quantile_is_within_its_error)
{
    enum { ROWS = sizeof(quantile_expected) / sizeof(*quantile_expected) };
    double worst = 0;

    for (int i = 0; i < ROWS; i++) {
        const struct expected *row = &quantile_expected[i];
        double x = num_truncated_normal_quantile(row->x, row->y, row->z);
        double scale = fmax(fabs(row->hi), fmin(1, 8 * (row->z - row->y)));
        double error = expected_error(x, row) / (0x1p-53 * scale);

        CHECK(x >= row->y && x <= row->z);
        if (!(error < 4))
            printf("# u %a in [%a, %a]: %a, expected %a: %g\n", row->x, row->y,
                   row->z, x, row->hi, error);
        worst = fmax(worst, error);
    }
    printf("# worst error %.4f\n", worst);
    CHECK(worst < 4);
}

TEST(truncated_quantile_at_the_edges)
{
    double (*q)(double u, double a, double b) = num_truncated_normal_quantile;

    expected_bits(q(0, -1, 2), -1);
    expected_bits(q(-0.0, -INFINITY, 2), -INFINITY);
    expected_bits(q(1, -1, 2), 2);
    expected_bits(q(1, -1, INFINITY), INFINITY);
    expected_bits(q(0.25, 3, 3), 3);
    expected_bits(q(0.25, -INFINITY, INFINITY), num_normal_quantile(0.25));
    expected_bits(q(0.75, -2, 2), -q(0.25, -2, 2));
    expected_bits(q(0.5, -1e308, -1e200), -1e200);
    expected_bits(q(0.5, 1e200, INFINITY), 1e200);
    expected_bits(q(0.5, 1e154, INFINITY), 1e154);
    expected_bits(q(0.5, 0, 0x1p-1073), 0x1p-1074);
    expected_bits(q(0.5, 2, 1), NAN);
    expected_bits(q(-0x1p-1074, 1, 2), NAN);
    expected_bits(q(1.5, 1, 2), NAN);
    expected_bits(q(NAN, 1, 2), NAN);
    expected_bits(q(0.5, NAN, 2), NAN);
    expected_bits(q(0.5, 1, NAN), NAN);
}

/* u -> x -> u again, wherever the interval lies. */
TEST(truncated_quantile_and_mass_agree)
{
    for (uint32_t i = 0; i < 20000; i++) {
        struct random_stream s = random_stream(6, RANDOM_TEST, i, 0);
        double v = 2 * random_open(&s, 0) - 1;
        double a = 60 * v * v * v;
        double b = a + ldexp(random_open(&s, 1), (int)(i % 12) - 5);
        double u = random_open(&s, 2);
        double x = num_truncated_normal_quantile(u, a, b);
        double mass = num_log_normal_mass(a, b);
        double have = exp(num_log_normal_mass(a, x) - mass);
        double slope = exp(-0.5 * x * x - 0.9189385332046727 - mass);

        CHECK(x >= a && x <= b);
        CHECK(fabs(have - u) <
              1e-12 + 0x1p-51 * fmax(fabs(x), fmin(1, 8 * (b - a))) * slope);
    }
}

TEST(truncated_distributions_scale)
{
    struct num_truncated t = num_truncated(3, 0.5, 2, INFINITY);
    struct num_truncated far = num_truncated(-1e6, 0.5, 2, 3);

    expected_bits(t.log_mass, num_log_normal_mass(-2, INFINITY));
    expected_bits(num_truncated_log_density(&t, 1.75), -INFINITY);
    expected_bits(num_truncated_quantile(&t, 0), 2);
    expected_bits(num_truncated_quantile(&t, 0.5),
                  3 + 0.5 * num_truncated_normal_quantile(0.5, -2, INFINITY));
    expected_bits(num_truncated_log_mass(&t, -5, INFINITY), 0);
    expected_bits(num_truncated_log_mass(&t, -5, 2), -INFINITY);
    expected_bits(num_truncated_log_mass(&t, 4, 3), -INFINITY);
    expected_bits(num_truncated_log_cell(&t, 4, 1),
                  num_truncated_log_mass(&t, 3.5, 4.5));
    CHECK(num_truncated_quantile(&far, 0.999) <= 3);
    CHECK(fabs(num_truncated_log_mass(&far, 2, 3)) < 1e-9);
}

/* The cells of a grid make up the whole, and the density is their limit. */
TEST(truncated_cells_add_up)
{
    static const double sigmas[] = {0.01, 0.3, 2, 50, 1e6};

    for (int i = 0; i < 5; i++) {
        struct num_truncated t = num_truncated(3.2, sigmas[i], -0.5, 9.5);
        double sum = 0;

        for (int v = 0; v < 10; v++)
            sum += exp(num_truncated_log_cell(&t, v, 1));
        CHECK(fabs(sum - 1) < 1e-12);
        CHECK(fabs(num_truncated_log_cell(&t, 3.1, 1e-5) - log(1e-5) -
                   num_truncated_log_density(&t, 3.1)) < 1e-5);
    }
}

TEST(truncated_refuses_what_is_no_distribution)
{
    struct num_truncated bad[] = {
        num_truncated(0, 0, 0, 1),        num_truncated(0, -1, 0, 1),
        num_truncated(NAN, 1, 0, 1),      num_truncated(0, NAN, 0, 1),
        num_truncated(0, INFINITY, 0, 1), num_truncated(0, 1, 1, 1),
        num_truncated(0, 1, NAN, 1),      num_truncated(INFINITY, 1, 0, 1)};
    struct num_truncated good = num_truncated(0, 1, -1, 1);

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        expected_bits(num_truncated_log_density(&bad[i], 0.5), NAN);
        expected_bits(num_truncated_log_mass(&bad[i], 0, 1), NAN);
        expected_bits(num_truncated_log_cell(&bad[i], 0, 1), NAN);
        expected_bits(num_truncated_quantile(&bad[i], 0.5), NAN);
    }
    expected_bits(num_truncated_log_density(&good, NAN), NAN);
    expected_bits(num_truncated_log_mass(&good, NAN, 1), NAN);
    expected_bits(num_truncated_quantile(&good, NAN), NAN);
}
