/* SPDX-License-Identifier: MIT */
#include "numerics/exp_sum.h"

#include "numerics/elementary.h"
#include "t.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { N = 64 };

static void
fill(double *v, double x)
{
    for (size_t i = 0; i < N; i++)
        v[i] = -1e9;
    v[5] = x;
}

TEST(exp_sum_is_near_the_exponential)
{
    double v[N], worst = 0;

    for (double x = 0; x > -40; x -= 0.000731) {
        double error;

        fill(v, x);
        error = fabs(num_exp_sum(v, N, 0) / num_exp(x) - 1);
        worst = error > worst ? error : worst;
    }
    CHECK(worst > 0 && worst < 4e-10);
    fill(v, 0);
    CHECK(num_exp_sum(v, N, 0) == 1);
    fill(v, -40.1);
    CHECK(num_exp_sum(v, N, 0) == 0);
}

TEST(exp_sum_adds_and_finds_the_largest)
{
    double v[N];

    for (size_t i = 0; i < N; i++)
        v[i] = num_log((double)(i + 1)) + 1000;
    CHECK(num_largest(v, N) == v[N - 1]);
    CHECK(num_largest(v, NUM_LANES) == v[NUM_LANES - 1]);
    CHECK(fabs(num_exp_sum(v, N, v[N - 1]) - N * (N + 1) / 2.0 / N) < 1e-8);
    v[17] = 2000;
    CHECK(num_largest(v, N) == 2000);
    v[3] = v[17] = -INFINITY;
    CHECK(fabs(num_exp_sum(v, N, v[N - 1]) - (N * (N + 1) / 2.0 - 4 - 18) / N) <
          1e-8);
}

/* A stored promise, as those of elementary.h. */
TEST(exp_sum_has_the_bits_it_had)
{
    static const uint64_t want[] = {0x3fefacddc60240c2, 0x3fe368b2fc6f838c,
                                    0x3e1f4fe4d4b0f243};
    static const double at[] = {-0.0102, -0.5, -20.123};

    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        double v[N], sum;
        uint64_t bits;

        fill(v, at[i]);
        sum = num_exp_sum(v, N, 0);
        memcpy(&bits, &sum, sizeof bits);
        CHECK_EQ(bits, want[i]);
    }
}
