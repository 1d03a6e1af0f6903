/* SPDX-License-Identifier: MIT */
/* Vectors side by side are what they are one by one; the covariance function
 * is the one of the books. */
#include "t.h"

#include "numerics/elementary.h"
#include "numerics/lanes.h"
#include "numerics/linear.h"
#include "numerics/matern.h"
#include "numerics/random.h"

#include <math.h>
#include <string.h>

enum { N = 13, STRIDE = 17 };

static double
number(uint32_t i, uint32_t draw)
{
    struct random_stream s = random_stream(8, RANDOM_TEST, i, 0);

    return random_uniform(&s, draw) - 0.5;
}

static void
check_near(double got, double want, double most)
{
    CHECK(fabs(got - want) <= most);
}

/* A positive definite matrix in `a`, of that stride, and its factor in `l`. */
static void
matrix(double *a, double *l)
{
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < N; k++)
            a[i * STRIDE + k] = number(i < k ? i * N + k : k * N + i, 0) +
                                (i == k ? (double)N : 0);
    memcpy(l, a, N * STRIDE * sizeof *a);
    for (size_t i = 0; i < N; i++)
        CHECK_EQ(num_cholesky_row(l, STRIDE, i), 0);
}

TEST(lanes_solve_each_system)
{
    double a[N * STRIDE] = {0}, l[N * STRIDE], b[N * NUM_LANES], one[N];
    double packed[N * N];

    matrix(a, l);
    for (size_t i = 0; i < N * N; i++)
        packed[i] = l[i / N * STRIDE + i % N];
    for (uint32_t i = 0; i < N * NUM_LANES; i++)
        b[i] = number(i, 1);
    num_lanes_lower_solve(l, STRIDE, N, b);
    num_lanes_upper_solve(l, STRIDE, N, b);
    for (size_t k = 0; k < NUM_LANES; k++) {
        for (size_t i = 0; i < N; i++)
            one[i] = number((uint32_t)(i * NUM_LANES + k), 1);
        num_cholesky_solve(packed, N, one);
        for (size_t i = 0; i < N; i++)
            check_near(b[i * NUM_LANES + k], one[i], 1e-15);
    }
}

TEST(lanes_of_rows_factor_as_the_whole_does)
{
    double a[N * STRIDE] = {0}, l[N * STRIDE], whole[N * N];

    matrix(a, l);
    for (size_t i = 0; i < N * N; i++)
        whole[i] = a[i / N * STRIDE + i % N];
    CHECK_EQ(num_cholesky(whole, N), 0);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k <= i; k++)
            CHECK(l[i * STRIDE + k] == whole[i * N + k]);
    a[3 * STRIDE + 3] = -1;
    CHECK_EQ(num_cholesky_row(a, STRIDE, 0), 0);
    memcpy(l + 3 * STRIDE, a + 3 * STRIDE, N * sizeof *a);
    CHECK_EQ(num_cholesky_row(l, STRIDE, 3), -1);
}

TEST(lanes_inverse_is_one)
{
    double a[N * STRIDE] = {0}, l[N * STRIDE], inverse[N * STRIDE];

    matrix(a, l);
    num_cholesky_inverse(l, STRIDE, N, inverse);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            double sum = 0;

            for (size_t j = 0; j < N; j++)
                sum += a[i * STRIDE + j] * (j < k ? inverse[j * STRIDE + k]
                                                  : inverse[k * STRIDE + j]);
            check_near(sum, i == k ? 1 : 0, 1e-14);
        }
}

TEST(lanes_sums_are_those_of_the_definition)
{
    double x[N], w[N], c[N * NUM_LANES], factor[NUM_LANES], out[NUM_LANES];
    double g[N * NUM_LANES] = {0}, by_column[N] = {0}, dot[NUM_LANES] = {0};
    double square[NUM_LANES] = {0};

    for (uint32_t i = 0; i < N * NUM_LANES; i++) {
        x[i % N] = number(i % N, 2);
        w[i % N] = number(i % N, 3) + 1;
        factor[i % NUM_LANES] = number(i % NUM_LANES, 4);
        c[i] = number(i, 5);
    }
    num_lanes_distance(x, w, c, N, out);
    num_lanes_pull(x, c, factor, N, g);
    num_lanes_spread(x, c, factor, N, by_column);
    num_lanes_dot(x, c, N, dot);
    num_lanes_square(c, N, square);
    for (size_t k = 0; k < NUM_LANES; k++) {
        double far = 0, product = 0, own = 0;

        for (size_t i = 0; i < N; i++) {
            double at = c[i * NUM_LANES + k], d = at - x[i];

            far += w[i] * d * d;
            product += x[i] * at;
            own += at * at;
            by_column[i] -= factor[k] * d * d;
            check_near(g[i * NUM_LANES + k], factor[k] * d, 1e-15);
        }
        check_near(out[k], far, 1e-14);
        check_near(dot[k], product, 1e-14);
        check_near(square[k], own, 1e-14);
    }
    for (size_t i = 0; i < N; i++)
        check_near(by_column[i], 0, 1e-14);
}

TEST(matern_is_that_of_the_books)
{
    for (int i = 0; i < 2000; i++) {
        double square = i * i * 1e-4, r = sqrt(5 * square);
        double want = (1 + r + r * r / 3) * exp(-r);

        check_near(num_matern52(square) / want, 1, 2e-8);
        check_near(num_decay(r) / exp(-r), 1, 2e-8);
    }
    CHECK(num_matern52(0) == 1);
    CHECK(num_matern52(1e7) == 0);
    CHECK(num_decay(NAN) == 0);
}

TEST(matern_of_many_has_the_bits_of_each)
{
    double squares[1001], value[1001], slope[1001];

    for (int i = 0; i < 1001; i++)
        squares[i] = i % 7 == 0 ? i * 300.0 : i * i * 1e-5;
    num_matern52_n(squares, value, slope, 1001);
    for (int i = 0; i < 1001; i++) {
        double step = 1e-5 * (squares[i] + 1e-3);

        CHECK(value[i] == num_matern52(squares[i]));
        if (squares[i] > 1e-2 && squares[i] < 1e3)
            check_near((num_matern52(squares[i] + step) - value[i]) / step,
                       slope[i], 2e-3 * fabs(slope[i]));
    }
    num_matern52_n(squares, squares, slope, 1001);
    CHECK(memcmp(squares, value, sizeof value) == 0);
}
