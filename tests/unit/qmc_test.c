/* SPDX-License-Identifier: MIT */
#include "qmc/qmc.h"

#include "numerics/elementary.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 256

static struct qmc *
make(const struct qmc_dim *dims, size_t n)
{
    struct qmc *q = qmc_new(dims, n, 42);

    CHECK(q != NULL);
    return q;
}

/* Each of as many parts has exactly one of the points. */
static void
check_strata(const double *quantiles)
{
    bool taken[POINTS] = {false};

    for (int i = 0; i < POINTS; i++) {
        int part = (int)floor(quantiles[i] * POINTS);

        CHECK(part >= 0 && part < POINTS && !taken[part]);
        taken[part] = true;
    }
}

TEST(qmc_fills_every_part_of_a_range)
{
    const struct qmc_dim dims[] = {
        {.low = -5, .high = 3, .parent = QMC_NO_PARENT},
        {.is_normal = 1, .mu = 2, .sigma = 3, .parent = QMC_NO_PARENT},
    };
    struct qmc *q = make(dims, 2);
    double x[2], first[POINTS], second[POINTS];

    for (uint64_t from = 0; from < 4 * POINTS; from += POINTS) {
        for (int i = 0; i < POINTS; i++) {
            qmc_point(q, from + (uint64_t)i, x);
            first[i] = (x[0] + 5) / 8;
            second[i] = 0.5 * num_erfc((2 - x[1]) / (3 * sqrt(2)));
        }
        check_strata(first);
        check_strata(second);
    }
    qmc_free(q);
}

TEST(qmc_gives_every_element_its_share)
{
    const struct qmc_dim dims[] = {
        {.n_choices = 4, .parent = QMC_NO_PARENT},
        {.n_choices = 8, .parent = QMC_NO_PARENT},
    };
    struct qmc *q = make(dims, 2);
    int seen[4][8] = {{0}};
    double x[2];

    for (uint64_t i = 0; i < POINTS; i++) {
        qmc_point(q, i, x);
        seen[(int)x[0]][(int)x[1]]++;
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 8; b++)
            CHECK_EQ(seen[a][b], POINTS / 32);
    qmc_free(q);
}

/* a {b {c d} | e}, f, as branches of a; and g. */
static const struct qmc_dim nested[] = {
    {.n_choices = 2, .parent = QMC_NO_PARENT},         /* 0: a */
    {.n_choices = 3, .parent = 0, .parent_choice = 0}, /* 1: b */
    {.high = 1, .parent = 1, .parent_choice = 2},      /* 2: c */
    {.high = 1, .parent = 1, .parent_choice = 2},      /* 3: d */
    {.high = 1, .parent = 1, .parent_choice = 0},      /* 4: e */
    {.high = 1, .parent = 0, .parent_choice = 1},      /* 5: f */
    {.high = 1, .parent = QMC_NO_PARENT},              /* 6: g */
};

TEST(qmc_branches_share_dimensions)
{
    static const uint32_t want[] = {0, 1, 2, 3, 2, 1, 4};
    struct qmc *q = make(nested, 7);

    for (size_t i = 0; i < 7; i++)
        CHECK_EQ(qmc_dimension(q, i), want[i]);
    CHECK_EQ(qmc_dimensions(q), 5);
    qmc_free(q);
}

TEST(qmc_leaves_out_what_is_inactive)
{
    struct qmc *q = make(nested, 7);
    int branch[2] = {0, 0};
    double x[7];

    for (uint64_t i = 0; i < POINTS; i++) {
        qmc_point(q, i, x);
        branch[(int)x[0]]++;
        CHECK(isnan(x[1]) == (x[0] != 0));
        CHECK(isnan(x[2]) == (x[1] != 2) && isnan(x[3]) == (x[1] != 2));
        CHECK(isnan(x[4]) == (x[1] != 0));
        CHECK(isnan(x[5]) == (x[0] != 1) && !isnan(x[6]));
    }
    CHECK_EQ(branch[0], POINTS / 2);
    qmc_free(q);
}

TEST(qmc_depends_on_seed_and_index_alone)
{
    struct qmc *a = make(nested, 7), *b = qmc_new(nested, 7, 43);
    double x[7], y[7], z[7];

    qmc_point(a, 17, x);
    qmc_point(a, 18, y);
    qmc_point(a, 17, y);
    CHECK(memcmp(x, y, sizeof x) == 0);
    qmc_point(b, 17, z);
    CHECK(x[6] != z[6]);
    qmc_free(a);
    qmc_free(b);
}

TEST(qmc_takes_many_dimensions_and_none)
{
    static struct qmc_dim dims[3000];
    static double x[3000];
    struct qmc *q = make(NULL, 0);

    qmc_point(q, 0, x);
    qmc_free(q);
    for (size_t i = 0; i < 3000; i++)
        dims[i] = (struct qmc_dim){
            .low = 2, .high = 2 + (i % 2), .parent = QMC_NO_PARENT};
    q = make(dims, 3000);
    for (uint64_t i = 0; i < 64; i++) {
        qmc_point(q, i, x);
        for (size_t k = 0; k < 3000; k++)
            CHECK(k % 2 == 0 ? x[k] == 2 : x[k] > 2 && x[k] < 3);
    }
    qmc_free(q);
}
