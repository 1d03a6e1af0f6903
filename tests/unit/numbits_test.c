/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/batch.h"
#include "numerics/front.h"
#include "numerics/hypervolume.h"
#include "numerics/lanes.h"
#include "numerics/linear.h"
#include "numerics/matern.h"
#include "numerics/random.h"
#include "numerics/sobol.h"
#include "numerics/truncated.h"

#include <stdio.h>
#include <string.h>

NOT_UNDER_TSAN;

/* DESIGN: a fingerprint of each function's bits over many arguments.  The
 * stored ones hold for every compiler, variant and machine, for ever: logs
 * replay only if they do. */

enum { POINTS = 20000, ARRAY = 1000, SIZE = 30 };

static uint64_t
mix(uint64_t hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return (hash ^ bits) * 0x100000001b3u; /* FNV-1a by whole words */
}

/* In (0, 1). */
static double
number(uint32_t i, uint32_t draw)
{
    struct random_stream s = random_stream(31, RANDOM_TEST, i, 0);

    return random_open(&s, draw);
}

/* Of either sign and of all sizes up to 2^20, most often near 1. */
static double
wide(uint32_t i, uint32_t draw)
{
    double u = 2 * number(i, draw) - 1;
    double x = 0x1p20 * u * u * u;

    return x * u * u * u * u;
}

static double
above(uint32_t i, double a)
{
    return a + num_exp(12 * number(i, 2) - 9);
}

static double
log1p_at(uint32_t i)
{
    return num_log1p(num_exp(wide(i, 0)) - number(i, 1));
}

static double
expm1_at(uint32_t i)
{
    return num_expm1(wide(i, 0));
}

static double
pow_at(uint32_t i)
{
    return num_pow(num_exp(20 * number(i, 1) - 10), wide(i, 0));
}

static double
cdf_at(uint32_t i)
{
    return num_normal_cdf(wide(i, 0));
}

static double
log_cdf_at(uint32_t i)
{
    return num_log_normal_cdf(wide(i, 0));
}

static double
log_mass_at(uint32_t i)
{
    double a = wide(i, 0);

    return num_log_normal_mass(a, above(i, a));
}

static double
mass_at(uint32_t i)
{
    double a = wide(i, 0);

    return num_normal_mass(a, above(i, a));
}

static double
quantile_at(uint32_t i)
{
    double a = wide(i, 0);

    return num_truncated_normal_quantile(number(i, 1), a, above(i, a));
}

static double
cell_at(uint32_t i)
{
    double mean = 10 * number(i, 1), sigma = num_exp(8 * number(i, 2) - 5);
    struct num_truncated t = num_truncated(mean, sigma, -0.5, 9.5);

    return num_truncated_log_cell(&t, i % 10, 1) +
           num_truncated_log_density(&t, 9 * number(i, 3)) +
           num_truncated_quantile(&t, number(i, 4));
}

static double
sobol_at(uint32_t i)
{
    struct num_sobol s = num_sobol_new(i / 100);

    return num_sobol(&s, i, i % 2500);
}

static void
check(const char *name, uint64_t got, const char *want)
{
    char text[24];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)got);
    printf("# %s: %s\n", name, text);
    CHECK_STR(text, want);
}

TEST(numerics_bits_of_the_new_functions_never_change)
{
    static const struct {
        const char *name;
        double (*at)(uint32_t i);
        const char *bits;
    } rows[] = {
        {"log1p", log1p_at, "a9bc58fbefc8cc28"},
        {"expm1", expm1_at, "d152d384ad2bc8ec"},
        {"pow", pow_at, "7a7d52c9d159323d"},
        {"cdf", cdf_at, "df612df1c1a8fb57"},
        {"log cdf", log_cdf_at, "05a2dbf1f1b0a2f0"},
        {"log mass", log_mass_at, "6fb2e03a2fb47a47"},
        {"mass", mass_at, "c68bc968037e2c28"},
        {"quantile", quantile_at, "3159f44ada5f56e7"},
        {"truncated", cell_at, "26b33a996024f6bd"},
        {"sobol", sobol_at, "b24b342d4e5809a5"},
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        uint64_t hash = 0xcbf29ce484222325u;

        for (uint32_t i = 0; i < POINTS; i++)
            hash = mix(hash, rows[k].at(i));
        check(rows[k].name, hash, rows[k].bits);
    }
}

TEST(numerics_bits_of_arrays_never_change)
{
    double v[ARRAY], w[ARRAY];
    uint64_t exps = 0xcbf29ce484222325u, sums = exps;

    for (uint32_t i = 0; i < ARRAY; i++) {
        v[i] = 1500 * number(i, 0) - 760;
        sums = mix(sums, num_log_sum_exp(v + i / 2, i - i / 2));
    }
    num_exp_n(v, w, ARRAY);
    for (uint32_t i = 0; i < ARRAY; i++)
        exps = mix(exps, w[i]);
    check("exp_n", exps, "38d50009103a9d21");
    check("log_sum_exp", sums, "b071d7a8abfac709");
}

TEST(numerics_bits_of_matrices_never_change)
{
    double a[SIZE * SIZE], b[SIZE * SIZE], values[SIZE], vectors[SIZE * SIZE];
    uint64_t eigen = 0xcbf29ce484222325u, cholesky = eigen;

    for (uint32_t i = 0; i < SIZE * SIZE; i++)
        vectors[i] = number(i, 0) - 0.5;
    for (size_t i = 0; i < SIZE * SIZE; i++)
        a[i] = num_dot(vectors + i / SIZE * SIZE, vectors + i % SIZE * SIZE,
                       SIZE) +
               (i % (SIZE + 1) == 0);
    memcpy(b, a, sizeof(b));
    CHECK(num_eigen_symmetric(a, SIZE, values, vectors) == 0);
    for (size_t i = 0; i < SIZE * SIZE; i++)
        eigen = mix(mix(eigen, vectors[i]), values[i % SIZE]);
    CHECK(num_cholesky(b, SIZE) == 0);
    num_cholesky_solve(b, SIZE, values);
    for (size_t i = 0; i < SIZE * SIZE; i++)
        cholesky = mix(mix(cholesky, b[i]), values[i % SIZE]);
    cholesky = mix(cholesky, num_cholesky_log_det(b, SIZE));
    check("eigen", eigen, "fe906fb715b343db");
    check("cholesky", cholesky, "a26f871a0b1ff85e");
}

TEST(numerics_bits_of_lanes_never_change)
{
    double l[SIZE * SIZE], inverse[SIZE * SIZE], b[SIZE * NUM_LANES];
    double value[SIZE * NUM_LANES], slope[SIZE * NUM_LANES];
    uint64_t solved = 0xcbf29ce484222325u, matern = solved;

    for (uint32_t i = 0; i < SIZE * SIZE; i++)
        l[i] = number(i, 0) + (i % (SIZE + 1) == 0 ? 20 : 0);
    for (size_t i = 0; i < SIZE; i++)
        CHECK(num_cholesky_row(l, SIZE, i) == 0);
    num_cholesky_inverse(l, SIZE, SIZE, inverse);
    for (size_t i = 0; i < SIZE; i++)
        num_lanes_distance(inverse + i * SIZE, l, l, SIZE / NUM_LANES,
                           b + i * NUM_LANES);
    num_matern52_n(b, value, slope, SIZE * NUM_LANES);
    num_lanes_lower_solve(l, SIZE, SIZE, b);
    num_lanes_upper_solve(l, SIZE, SIZE, b);
    for (size_t i = 0; i < SIZE * NUM_LANES; i++) {
        solved = mix(mix(solved, b[i]), inverse[i / SIZE * SIZE + SIZE - 1]);
        matern = mix(mix(matern, value[i]), slope[i]);
    }
    check("lanes", solved, "8470279c84a9f524");
    check("matern", matern, "a1bdd22f843d3521");
}

TEST(numerics_bits_of_fronts_and_volumes_never_change)
{
    static const double reference[] = {1, 1, 1, 1, 1, 1};
    uint64_t hash = 0xcbf29ce484222325u;
    double costs[40 * 6], out[40];
    uint32_t order[40], ranks[40];

    for (uint32_t n_costs = 1; n_costs <= 6; n_costs++) {
        double volume;

        for (uint32_t i = 0; i < 40 * n_costs; i++)
            costs[i] = number(i, n_costs);
        CHECK_EQ(front_ranks(costs, NULL, 40, n_costs, ranks), 0);
        CHECK_EQ(front_crowding(costs, 40, n_costs, ranks, out), 0);
        CHECK_EQ(front_order(costs, NULL, 40, n_costs, order), 0);
        for (size_t i = 0; i < 40; i++)
            hash = mix(mix(mix(hash, out[i]), order[i]), ranks[i]);
        CHECK_EQ(hypervolume(costs, 40, n_costs, reference, &volume), 0);
        CHECK_EQ(hypervolume_contributions(costs, 40, n_costs, reference, out),
                 0);
        hash = mix(hash, volume);
        for (size_t i = 0; i < 40; i++)
            hash = mix(hash, out[i]);
    }
    check("fronts", hash, "8c25bad2d94043c6");
}
