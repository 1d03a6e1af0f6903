/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/normal.h"
#include "numerics/random.h"

#include "expected.h"

#include "data/numerics/normal.inc"

static double
cdf_of(const struct expected *row)
{
    return num_normal_cdf(row->x);
}

static double
log_cdf_of(const struct expected *row)
{
    return num_log_normal_cdf(row->x);
}

static double
log_mass_of(const struct expected *row)
{
    return num_log_normal_mass(row->x, row->y);
}

TEST(normal_functions_are_within_their_errors)
{
    EXPECTED_CHECK(cdf_of, cdf_expected, 0.6);
    EXPECTED_CHECK(log_cdf_of, log_cdf_expected, 0.6);
    EXPECTED_CHECK(log_mass_of, log_mass_expected, 1);
}

/* The table of the logarithms serves here, too. */
TEST(normal_mass_is_within_its_error)
{
    size_t rows = sizeof(log_mass_expected) / sizeof(*log_mass_expected);
    double worst = 0;
    int used = 0;

    for (size_t i = 0; i < rows; i++) {
        const struct expected *row = &log_mass_expected[i];
        long double want = expl((long double)row->hi + (long double)row->lo);
        double got = num_normal_mass(row->x, row->y);

        if (row->hi < -700) {
            CHECK(got >= 0 && got < 1e-300);
            continue;
        }
        worst = fmax(worst, (double)fabsl(got / want - 1));
        used++;
    }
    printf("# worst relative error %.3g of %d\n", worst, used);
    CHECK(worst < 1e-11 && used > 700);
}

TEST(normal_mass_at_the_edges)
{
    expected_bits(num_normal_mass(-INFINITY, INFINITY), 1);
    expected_bits(num_normal_mass(-INFINITY, 0.0), 0.5);
    expected_bits(num_normal_mass(-0.0, INFINITY), 0.5);
    expected_bits(num_normal_mass(-1e308, 1e308), 1);
    expected_bits(num_normal_mass(1, 1), 0);
    expected_bits(num_normal_mass(INFINITY, INFINITY), 0);
    expected_bits(num_normal_mass(50, 60), 0);
    expected_bits(num_normal_mass(2, 1), NAN);
    expected_bits(num_normal_mass(NAN, 1), NAN);
    expected_bits(num_normal_mass(1, -NAN), NAN);
    expected_bits(num_normal_mass(-NAN, INFINITY), NAN);
    CHECK(num_normal_mass(1, 1 + 0x1p-52) > 0x1p-55);
}

/* Where the way it is computed changes, and elsewhere. */
TEST(normal_mass_and_its_logarithm_agree)
{
    static const double ends[] = {-12,  -10.001, -10, -9.999, -6.001,
                                  -6,   -5.999,  -1,  -0.0,   0.0,
                                  1e-3, 6,       10,  10.001};
    double worst = 0;
    enum { N = sizeof(ends) / sizeof(*ends) };

    for (uint32_t i = 0; i < 20000; i++) {
        struct random_stream s = random_stream(7, RANDOM_TEST, i, 0);
        double a = i % 3 == 0 ? ends[i / 3 % N] : 24 * random_open(&s, 0) - 12;
        double b = i % 6 == 0
                       ? ends[i / 6 / N % N]
                       : a + ldexp(random_open(&s, 1), 4 - (int)(i % 21));
        double low = fmin(a, b), high = fmax(a, b);
        double mass = num_normal_mass(low, high);
        double want = exp(num_log_normal_mass(low, high));

        expected_bits(num_normal_mass(-high, -low), mass);
        worst = fmax(worst, want > 0 ? fabs(mass / want - 1) : mass);
    }
    printf("# worst relative difference %.3g\n", worst);
    CHECK(worst < 1e-11);
}

TEST(normal_cdf_at_the_edges)
{
    expected_bits(num_normal_cdf(0.0), 0.5);
    expected_bits(num_normal_cdf(-0.0), 0.5);
    expected_bits(num_normal_cdf(9), 1);
    expected_bits(num_normal_cdf(INFINITY), 1);
    expected_bits(num_normal_cdf(-INFINITY), 0);
    expected_bits(num_normal_cdf(-NAN), NAN);
    expected_bits(num_log_normal_cdf(INFINITY), 0);
    expected_bits(num_log_normal_cdf(1e300), 0);
    expected_bits(num_log_normal_cdf(-INFINITY), -INFINITY);
    expected_bits(num_log_normal_cdf(-1e300), -INFINITY);
    CHECK(num_log_normal_cdf(-1e154) < -4.99e307);
    CHECK(num_log_normal_cdf(-1e154) > -5.01e307);
    expected_bits(num_log_normal_cdf(-NAN), NAN);
}

TEST(normal_log_mass_at_the_edges)
{
    expected_bits(num_log_normal_mass(-INFINITY, INFINITY), 0);
    expected_bits(num_log_normal_mass(-1e300, 1e300), 0);
    expected_bits(num_log_normal_mass(-INFINITY, -INFINITY), -INFINITY);
    expected_bits(num_log_normal_mass(INFINITY, INFINITY), -INFINITY);
    expected_bits(num_log_normal_mass(2, 2), -INFINITY);
    expected_bits(num_log_normal_mass(-0.0, 0.0), -INFINITY);
    expected_bits(num_log_normal_mass(1e200, INFINITY), -INFINITY);
    expected_bits(num_log_normal_mass(-1e308, -1e200), -INFINITY);
    expected_bits(num_log_normal_mass(2, 1), NAN);
    expected_bits(num_log_normal_mass(NAN, 1), NAN);
    expected_bits(num_log_normal_mass(0, NAN), NAN);
    CHECK(num_log_normal_mass(0, 0x1p-1074) < -745);
    CHECK(num_log_normal_mass(-1e308, 1e-300) <= num_log_normal_cdf(1e-300));
}

/* A point of [-40, 40], often near zero. */
static double
point(uint32_t i, uint32_t draw)
{
    struct random_stream s = random_stream(5, RANDOM_TEST, i, 0);
    double u = 2 * random_open(&s, draw) - 1;

    return 40 * u * u * u;
}

TEST(normal_log_mass_is_a_measure)
{
    for (uint32_t i = 0; i < 20000; i++) {
        double a = fmin(point(i, 0), point(i, 1));
        double b = fmax(point(i, 0), point(i, 1));
        double middle = a + (b - a) * 0.375;
        double whole = num_log_normal_mass(a, b);
        double left = num_log_normal_mass(a, middle);
        double right = num_log_normal_mass(middle, b);
        double sum = exp(left - whole) + exp(right - whole);

        expected_bits(num_log_normal_mass(-b, -a), whole);
        CHECK(whole < 0 && whole >= left && whole >= right);
        CHECK(fabs(sum - 1) < 1e-12);
        CHECK(whole <= num_log_normal_cdf(b));
    }
}
