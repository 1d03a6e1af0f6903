/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/linear.h"
#include "numerics/random.h"

#include "expected.h"

#include "data/numerics/linear.inc"

#include <stdlib.h>

enum { MOST = 160 };

struct room {
    double a[MOST * MOST], lost[MOST * MOST], vectors[MOST * MOST];
    double values[MOST];
};

/* As scripts/gen-numerics-expected has them; the others are random. */
static double
element(int kind, int n, int i, int j)
{
    struct random_stream s = random_stream(9, RANDOM_TEST, (uint64_t)n, 0);
    uint32_t place = (uint32_t)(i > j ? i * n + j : j * n + i);

    switch (kind) {
    case 0:
        return i == j ? abs(n / 2 - i) : abs(i - j) == 1;
    case 1:
        return ((i * j * 37 + (i + j) * 11) % 101 - 50) / 64.0;
    case 2:
        return (i < j ? i : j) + 1;
    case 3:
        return ldexp(1, -abs(i - j));
    case 4: /* rank one */
        return (i + 1) * (j + 1);
    case 5:
        return i == j ? 3 : 0;
    case 6: /* graded over 300 powers of ten */
        return ldexp(1 + (i == j), -6 * (i + j));
    default:
        return random_normal(&s, place);
    }
}

enum { KINDS = 8 };

static void
matrix_fill(double *a, int kind, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = element(kind, n, i, j);
}

static struct room *
room_with(int kind, int n)
{
    struct room *r = calloc(1, sizeof(*r));

    CHECK(r != NULL && n <= MOST);
    matrix_fill(r->a, kind, n);
    memcpy(r->lost, r->a, sizeof(r->a));
    return r;
}

static double
largest(const double *values, int n)
{
    return fmax(fabs(values[0]), fabs(values[n - 1]));
}

TEST(linear_eigenvalues_are_within_their_error)
{
    size_t rows = sizeof(eigen_expected) / sizeof(*eigen_expected);
    double worst = 0;

    for (size_t first = 0; first < rows;) {
        const struct expected *row = &eigen_expected[first];
        int n = (int)row->y;
        struct room *r = room_with((int)row->x, n);

        CHECK(num_eigen_symmetric(r->lost, (size_t)n, r->values, r->vectors) ==
              0);
        for (int i = 0; i < n; i++) {
            double unit = 0x1p-53 * n * largest(r->values, n);

            worst = fmax(worst, expected_error(r->values[i], &row[i]) / unit);
        }
        first += (size_t)n;
        free(r);
    }
    printf("# eigenvalues: worst error %.4f n 2^-53 |A|\n", worst);
    CHECK(worst < 8);
    CHECK_EQ(rows, 4 * (1 + 2 + 3 + 21 + 40));
}

/* A v = value v, v and w at right angles and of length 1. */
static void
check_vectors(const struct room *r, int n, int kind)
{
    double unit = 8 * 0x1p-53 * n;
    double norm = largest(r->values, n);

    for (int j = 0; j < n; j++) {
        const double *v = r->vectors + j * n;
        double worst = 0, most = 0;
        int at = 0;

        CHECK(j == 0 || r->values[j] >= r->values[j - 1]);
        for (int i = 0; i < n; i++) {
            double image = num_dot(r->a + i * n, v, (size_t)n);
            double angle = num_dot(r->vectors + i * n, v, (size_t)n);

            worst = fmax(worst, fabs(image - r->values[j] * v[i]));
            CHECK(fabs(angle - (i == j)) < unit);
            if (fabs(v[i]) > most) {
                most = fabs(v[i]);
                at = i;
            }
        }
        if (!(worst <= unit * norm))
            printf("# kind %d, n %d: %g\n", kind, n, worst / (unit * norm));
        CHECK(worst <= unit * norm);
        CHECK(v[at] > 0);
    }
}

TEST(linear_eigenvectors_are_what_they_are)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 17, 40, MOST};

    for (int k = 0; k < KINDS * 8; k++) {
        int n = sizes[k % 8];
        struct room *r = room_with(k / 8, n);

        for (int i = 0; i < n; i++) /* the upper triangle is not read */
            for (int j = i + 1; j < n; j++)
                r->lost[i * n + j] = NAN;
        CHECK(num_eigen_symmetric(r->lost, (size_t)n, r->values, r->vectors) ==
              0);
        check_vectors(r, n, k / 8);
        free(r);
    }
}

TEST(linear_eigenvalues_scale_exactly)
{
    struct room *r = room_with(7, 12);
    struct room *s = room_with(7, 12);
    static const int powers[] = {-900, -500, 500, 1000};

    CHECK(num_eigen_symmetric(r->lost, 12, r->values, r->vectors) == 0);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 144; i++)
            s->lost[i] = ldexp(s->a[i], powers[k]);
        CHECK(num_eigen_symmetric(s->lost, 12, s->values, s->vectors) == 0);
        for (int i = 0; i < 12; i++)
            expected_bits(s->values[i], ldexp(r->values[i], powers[k]));
        CHECK(memcmp(s->vectors, r->vectors, sizeof(r->vectors)) == 0);
    }
    free(r);
    free(s);
}

TEST(linear_eigen_at_the_edges)
{
    double zero[9] = {0}, one[1] = {-0x1p-1074}, huge[1] = {-1.7e308};
    double values[3], vectors[9];

    CHECK(num_eigen_symmetric(zero, 0, values, vectors) == 0);
    CHECK(num_eigen_symmetric(zero, 3, values, vectors) == 0);
    for (int i = 0; i < 9; i++)
        expected_bits(vectors[i], i % 4 == 0);
    for (int i = 0; i < 3; i++)
        expected_bits(values[i], 0);
    CHECK(num_eigen_symmetric(one, 1, values, vectors) == 0);
    expected_bits(values[0], -0x1p-1074);
    expected_bits(vectors[0], 1);
    CHECK(num_eigen_symmetric(huge, 1, values, vectors) == 0);
    expected_bits(values[0], -1.7e308);
}

TEST(linear_refuses_what_is_not_finite)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};

    for (int k = 0; k < 3 * 6; k++) {
        double a[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2};
        double b[9], values[3], vectors[9];
        static const int lower[] = {0, 3, 4, 6, 7, 8};

        a[lower[k / 3]] = bad[k % 3];
        memcpy(b, a, sizeof(b));
        CHECK_EQ(num_eigen_symmetric(a, 3, values, vectors), -1);
        CHECK_EQ(num_cholesky(b, 3), -1);
    }
}

TEST(linear_cholesky_solves_and_measures)
{
    size_t rows = sizeof(solution_expected) / sizeof(*solution_expected);

    for (size_t first = 0; first < rows;) {
        const struct expected *row = &solution_expected[first];
        int n = (int)row->y;
        struct room *r = room_with((int)row->x, n);
        double condition = row->x == 2 ? 4.0 * n * n : 9;

        for (int i = 0; i < n; i++)
            r->values[i] = i % 2 ? -(i + 1) : i + 1;
        CHECK(num_cholesky(r->lost, (size_t)n) == 0);
        num_cholesky_solve(r->lost, (size_t)n, r->values);
        for (int i = 0; i < n; i++)
            CHECK(expected_error(r->values[i], &row[i]) <=
                  condition * n * n * 0x1p-53);
        CHECK(expected_error(num_cholesky_log_det(r->lost, (size_t)n),
                             &row[n]) <= condition * n * 0x1p-53);
        first += (size_t)n + 1;
        free(r);
    }
}

TEST(linear_cholesky_factors)
{
    for (int n = 1; n <= 60; n += 1 + n / 4) {
        struct room *r = room_with(7, n);
        double norm = 0;

        /* A A' + 1 of a random A */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                r->vectors[i * n + j] =
                    num_dot(r->a + i * n, r->a + j * n, (size_t)n) + (i == j);
        memcpy(r->lost, r->vectors, sizeof(r->lost));
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                r->lost[i * n + j] = 0; /* the upper triangle is not read */
        CHECK(num_cholesky(r->lost, (size_t)n) == 0);
        for (int i = 0; i < n; i++)
            norm = fmax(norm, r->vectors[i * n + i]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                CHECK(
                    fabs(num_dot(r->lost + i * n, r->lost + j * n, (size_t)n) -
                         r->vectors[i * n + j]) <= 2 * n * 0x1p-53 * norm);
        free(r);
    }
}

TEST(linear_cholesky_knows_what_is_not_definite)
{
    double semi[] = {1, 0, 1, 1}, negative[] = {-1}, zero[] = {0};
    double fine[] = {4, NAN, 2, 5};

    CHECK_EQ(num_cholesky(semi, 2), -1);
    CHECK_EQ(num_cholesky(negative, 1), -1);
    CHECK_EQ(num_cholesky(zero, 1), -1);
    CHECK_EQ(num_cholesky(fine, 2), 0);
    expected_bits(fine[0], 2);
    expected_bits(fine[1], NAN);
    expected_bits(fine[2], 1);
    expected_bits(fine[3], 2);
    CHECK_EQ(num_cholesky(NULL, 0), 0);
}

TEST(linear_sums_have_the_order_the_header_names)
{
    double a[11], b[11], y[11];
    struct random_stream s = random_stream(11, RANDOM_TEST, 0, 0);

    for (uint32_t i = 0; i < 11; i++) {
        a[i] = random_normal(&s, 2 * i);
        b[i] = random_normal(&s, 2 * i + 1);
        y[i] = b[i];
    }
    for (size_t n = 0; n <= 11; n++) {
        double sums[4] = {0, 0, 0, 0};

        for (size_t i = 0; i < n; i++)
            sums[i % 4] += a[i] * b[i];
        expected_bits(num_dot(a, b, n),
                      (sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    num_add_scaled(y, a, 0.3, 11);
    for (int i = 0; i < 11; i++)
        expected_bits(y[i], b[i] + 0.3 * a[i]);
}
