/* SPDX-License-Identifier: MIT */
/* What the search finds, and what must not change its way. */
#include "unit/cmaes_help.h"

NOT_UNDER_TSAN;

static double
sphere(const struct hunt *h, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < h->n; i++)
        sum += (x[i] - 1.3) * (x[i] - 1.3);
    return sum;
}

/* Axes a thousand times as long as others, and turned. */
static double
ellipsoid(const struct hunt *h, const double *x)
{
    double sum = 0, weight = 1;

    for (size_t i = 0; i < h->n; i++) {
        double along = 0;

        for (size_t k = 0; k < h->n; k++)
            along += (k == i ? 2.0 : -1.0 + 0.2 * (double)i) * (x[k] - 0.7);
        sum += weight * along * along;
        weight *= 30;
    }
    return sum;
}

TEST(cmaes_finds_the_middle_of_a_sphere)
{
    struct hunt h;

    hunt_open(&h, HUNT_FIVE, hunt_options(false));
    CHECK(hunt_run(&h, sphere, 600) < 1e-6);
    hunt_close(&h);
    hunt_open(&h, HUNT_FIVE, hunt_options(true));
    CHECK(hunt_run(&h, sphere, 60) < 0.1);
    hunt_close(&h);
}

TEST(cmaes_learns_how_parameters_hang_together)
{
    struct hunt h;

    hunt_open(&h, HUNT_FIVE, hunt_options(false));
    CHECK(hunt_run(&h, ellipsoid, 2500) < 1e-5);
    hunt_close(&h);
}

/* exp() changes no order, a power of two no digit. */
static double
bent_sphere(const struct hunt *h, const double *x)
{
    return exp(sphere(h, x) / 10);
}

static double
long_sphere(const struct hunt *h, const double *x)
{
    return 1024 * sphere(h, x);
}

static void
check_same_way(hunt_function *f, hunt_function *g, bool surrogate)
{
    struct hunt a, b;
    double x[X_MAX], y[X_MAX];

    hunt_open(&a, HUNT_FIVE, hunt_options(surrogate));
    hunt_open(&b, HUNT_FIVE, hunt_options(surrogate));
    for (int i = 0; i < 60; i++) {
        uint64_t id = hunt_ask(&a, x);

        CHECK_EQ(hunt_ask(&b, y), id);
        CHECK(memcmp(x, y, 5 * sizeof *x) == 0);
        hunt_tell(&a, id, x, f(&a, x));
        hunt_tell(&b, id, y, g(&b, y));
    }
    hunt_close(&a);
    hunt_close(&b);
}

TEST(cmaes_goes_the_same_way_whatever_the_scale)
{
    check_same_way(sphere, sphere, true);
    check_same_way(sphere, long_sphere, true);
    check_same_way(sphere, bent_sphere, false);
}

TEST(cmaes_goes_another_way_with_another_seed)
{
    struct hunt a, b;
    double x[X_MAX], y[X_MAX];

    hunt_open(&a, HUNT_FIVE, hunt_options(true));
    hunt_open(&b, HUNT_FIVE, hunt_options(true));
    b.seed = 2;
    hunt_ask(&a, x);
    hunt_ask(&b, y);
    CHECK(memcmp(x, y, 5 * sizeof *x) != 0);
    hunt_close(&a);
    hunt_close(&b);
}

#define MIXED                                                    \
    "{'c': {'_type': 'choice', '_value': ['p', 'q', 'r', 's']}," \
    " 'q': {'_type': 'quniform', '_value': [0, 20, 1]},"         \
    " 'l': {'_type': 'qloguniform', '_value': [1, 1024, 1]},"    \
    " 'i': {'_type': 'randint', '_value': [0, 12]},"             \
    " 'n': {'_type': 'normal', '_value': [3, 2]},"               \
    " 'u': {'_type': 'loguniform', '_value': [0.0001, 1]}}"

static double
mixed(const struct hunt *h, const double *x)
{
    double sum = x[0] == 2 ? 0 : 1;

    sum += 0.3 * fabs(space_value(h->space, 1, x[1]) - 17);
    sum += fabs(log(space_value(h->space, 2, x[2]) / 32));
    sum += 0.2 * fabs(x[3] - 4) + 0.2 * (x[4] - 4) * (x[4] - 4);
    return sum + 0.1 * (x[5] + 5) * (x[5] + 5);
}

TEST(cmaes_finds_elements_and_rounded_values)
{
    struct hunt h;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, MIXED, hunt_options(surrogate));
        CHECK(hunt_run(&h, mixed, surrogate ? 200 : 1000) < 0.1);
        CHECK(h.x[0] == 2 && h.x[3] == 4);
        CHECK(space_value(h.space, 1, h.x[1]) == 17);
        hunt_close(&h);
    }
}

#define BRANCHES                                         \
    "{'k': {'_type': 'choice', '_value': ["              \
    " {'_name': 'a', 'x': " HUNT_U ", 'y': " HUNT_U "}," \
    " {'_name': 'b', 'z': " HUNT_U "}, {'_name': 'c'}]}, 'w': " HUNT_U "}"

/* The branch with most to be set is the best one. */
static double
branches(const struct hunt *h, const double *x)
{
    double sum = (x[4] + 2) * (x[4] + 2) / 10;

    (void)h;
    CHECK(isnan(x[1]) == (x[0] != 0) && isnan(x[2]) == (x[0] != 0));
    CHECK(isnan(x[3]) == (x[0] != 1));
    if (x[0] == 0)
        return sum + ((x[1] - 3) * (x[1] - 3) + (x[2] - 2) * (x[2] - 2)) / 10;
    return sum + (x[0] == 1 ? 1 + x[3] * x[3] / 10 : 1.2);
}

TEST(cmaes_finds_the_branch)
{
    struct hunt h;

    for (int surrogate = 0; surrogate < 2; surrogate++) {
        hunt_open(&h, BRANCHES, hunt_options(surrogate));
        CHECK(hunt_run(&h, branches, surrogate ? 120 : 600) < 0.05);
        CHECK(h.x[0] == 0);
        hunt_close(&h);
    }
}

TEST(cmaes_gives_out_every_point_of_a_small_space_once)
{
    struct hunt h;
    double x[X_MAX];
    bool seen[5][6] = {{false}};

    hunt_open(&h,
              "{'a': {'_type': 'randint', '_value': [0, 5]},"
              " 'b': {'_type': 'choice', '_value': [1, 2, 3, 4, 5, 6]}}",
              hunt_options(true));
    for (int i = 0; i < 30; i++) {
        uint64_t id = hunt_ask(&h, x);

        CHECK(!seen[(int)x[0]][(int)x[1]]);
        seen[(int)x[0]][(int)x[1]] = true;
        hunt_tell(&h, id, x, x[0] + x[1]);
    }
    hunt_ask(&h, x); /* and does not hang when there is nothing left */
    hunt_close(&h);
}

TEST(cmaes_takes_parameters_of_one_value)
{
    struct hunt h;
    double x[X_MAX];

    hunt_open(&h,
              "{'a': {'_type': 'uniform', '_value': [2, 2]},"
              " 'b': {'_type': 'choice', '_value': [{'_name': 'only',"
              "   'c': {'_type': 'normal', '_value': [7, 0]}}]},"
              " 'd': {'_type': 'quniform', '_value': [3, 3, 1]}}",
              hunt_options(true));
    for (int i = 0; i < 20; i++) {
        hunt_tell(&h, hunt_ask(&h, x), x, i);
        CHECK(x[0] == 2 && x[1] == 0 && x[2] == 7 && x[3] == 3);
    }
    hunt_close(&h);
}
