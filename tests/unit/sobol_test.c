/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/sobol.h"

#include "expected.h"

#include "data/numerics/sobol.inc"

#include <stdlib.h>

NOT_UNDER_TSAN;

TEST(sobol_digits_are_those_of_joe_and_kuo)
{
    size_t rows = sizeof(sobol_expected) / sizeof(*sobol_expected);

    CHECK_EQ(rows, 8 * 43);
    for (size_t i = 0; i < rows; i++) {
        const struct expected *row = &sobol_expected[i];
        uint64_t digits = num_sobol_digits((uint64_t)row->x, (uint32_t)row->y);

        expected_bits((double)digits * 0x1p-42, row->hi);
    }
}

/* The first dimension is van der Corput's; each has each digit string once. */
TEST(sobol_digits_of_every_dimension_are_a_permutation)
{
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(num_sobol_digits(UINT64_C(1) << i % 42, 0),
                 UINT64_C(1) << (41 - i % 42));
    for (uint32_t dim = 0; dim < NUM_SOBOL_DIMS; dim++) {
        unsigned char seen[256] = {0};

        for (uint64_t i = 0; i < 256; i++) {
            uint64_t digits = num_sobol_digits(i + 512, dim);

            CHECK(digits < UINT64_C(1) << 42);
            CHECK(seen[digits >> 34]++ == 0);
        }
    }
}

/* Cell `across` of 2^bits by cell `up` of 2^(m - bits). */
static void
check_net(const struct num_sobol *s, uint64_t first, uint32_t dim, int m)
{
    for (int bits = 0; bits <= m; bits++) {
        unsigned char seen[1024] = {0};

        for (uint64_t i = 0; i < UINT64_C(1) << m; i++) {
            double x = num_sobol(s, first + i, dim);
            double y = num_sobol(s, first + i, dim + 1);
            int across = (int)ldexp(x, bits), up = (int)ldexp(y, m - bits);

            CHECK(x > 0 && x < 1 && y > 0 && y < 1);
            CHECK(seen[(across << (m - bits)) + up]++ == 0);
        }
    }
}

TEST(sobol_scrambled_points_are_a_net)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct num_sobol s = num_sobol_new(seed);

        check_net(&s, 0, 0, 8);
        check_net(&s, 5 << 8, 0, 8);
        check_net(&s, UINT64_C(1) << 41, 0, 6);
        check_net(&s, 0, NUM_SOBOL_DIMS, 8); /* the second block's first two */
        check_net(&s, 3 << 8, 2 * NUM_SOBOL_DIMS, 8);
    }
}

TEST(sobol_each_dimension_is_stratified_beyond_the_table_too)
{
    struct num_sobol s = num_sobol_new(77);

    for (uint32_t dim = 0; dim < 3000; dim += 7) {
        unsigned char seen[64] = {0};

        for (uint64_t i = 0; i < 64; i++)
            CHECK(seen[(int)(64 * num_sobol(&s, 192 + i, dim))]++ == 0);
    }
}

/* Over seeds a coordinate is uniform, and two are independent. */
TEST(sobol_scrambling_is_uniform)
{
    enum { SEEDS = 20000 };
    static const uint32_t dims[] = {0, 1, 57, 1110, 1111, 5000};
    double sum[6] = {0}, product[6] = {0};
    int cells[6][16] = {{0}};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct num_sobol s = num_sobol_new(seed);

        for (int k = 0; k < 6; k++) {
            double x = num_sobol(&s, 3, dims[k]);
            double y = num_sobol(&s, 3, dims[(k + 1) % 6]);

            sum[k] += x;
            product[k] += (x - 0.5) * (y - 0.5);
            cells[k][(int)(x * 65536) & 15]++; /* digits 13 to 16 */
        }
    }
    for (int k = 0; k < 6; k++) {
        double chi = 0;

        CHECK(fabs(sum[k] / SEEDS - 0.5) < 5 / sqrt(12.0 * SEEDS));
        CHECK(fabs(product[k] / SEEDS) < 5 / (12 * sqrt(SEEDS)));
        for (int i = 0; i < 16; i++)
            chi += pow(cells[k][i] - SEEDS / 16.0, 2) / (SEEDS / 16.0);
        CHECK(chi < 50); /* 15 degrees of freedom: once in 80,000 */
    }
}

static double
spread_of_mean(uint32_t n, uint32_t from)
{
    double square = 0;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct num_sobol s = num_sobol_new(seed);
        double sum = 0;

        for (uint32_t i = 0; i < n; i++) {
            double value = 1;

            for (uint32_t dim = from; dim < from + 5; dim++)
                value *= 1 + (num_sobol(&s, i, dim) - 0.5);
            sum += value - 1;
        }
        square += sum / n * (sum / n);
    }
    return sqrt(square / 60);
}

/* Chance would need 30^2 times the points of this. */
TEST(sobol_integrates_better_than_chance)
{
    double chance = sqrt((pow(13 / 12.0, 5) - 1) / 1024);

    CHECK(spread_of_mean(1024, 0) < chance / 30);
    CHECK(spread_of_mean(1024, NUM_SOBOL_DIMS) < chance / 30);
    CHECK(spread_of_mean(1024, 1000) < chance / 5);
    /* over the border of two blocks: no worse than chance */
    CHECK(spread_of_mean(1024, NUM_SOBOL_DIMS - 2) < chance);
}
