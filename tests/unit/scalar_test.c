/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/pack.h"
#include "plugin/scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAIR                                              \
    "{\"objectives\": [{\"name\": \"a\", \"direction\": " \
    "\"maximize\"}, {\"name\": \"b\", \"direction\": "    \
    "\"minimize\"}]"

static struct objectives *
read(const char *more)
{
    char json[500];
    struct objectives *o;

    snprintf(json, sizeof json, PAIR "%s}", more);
    o = objectives_read(json, NULL);
    CHECK(o != NULL);
    return o;
}

static double
take(struct scalar *s, double a, double b)
{
    double values[OBJECTIVES_VALUES_MAX] = {a, b};

    return scalar_take(s, values, objectives_violation(s->objectives, values));
}

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

TEST(scalar_chebyshev_weighs_costs_over_their_ranges)
{
    struct objectives *o = read(", \"scalarize\": {\"weights\": {\"a\": 3}}");
    struct scalar s;

    scalar_init(&s, o);
    CHECK(take(&s, 10, 100) == 0); /* nothing to compare with */
    CHECK(near(take(&s, 20, 200), 0.25 + 0.05 * 0.25));
    CHECK(near(take(&s, 15, 100), 0.375 + 0.05 * 0.375));
    CHECK(near(take(&s, 10, 200), 0.75 + 0.05));
    CHECK(take(&s, 30, 0) == 0); /* a new best in both */
    CHECK(near(take(&s, 20, 100), 0.375 + 0.05 * (0.375 + 0.125)));
    objectives_free(o);
}

TEST(scalar_weights_are_a_sum)
{
    struct objectives *o = read(", \"scalarize\": {\"method\": \"weights\", "
                                "\"weights\": {\"a\": 1e308, \"b\": 1e308}}");
    struct scalar s;

    scalar_init(&s, o);
    take(&s, 0, 0);
    CHECK(near(take(&s, 4, 4), 0.5));
    CHECK(near(take(&s, 1, 1), 0.5 * 0.75 + 0.5 * 0.25));
    objectives_free(o);
}

TEST(scalar_lexicographic_orders_by_the_first_that_differs)
{
    struct objectives *o =
        read(", \"scalarize\": {\"method\": \"lexicographic\"}");
    struct scalar s;

    scalar_init(&s, o);
    take(&s, 0, 0);
    take(&s, 1, 1);
    CHECK(take(&s, 0.5, 1) < take(&s, 0.4, 0));
    CHECK(take(&s, 0.5, 0.1) < take(&s, 0.5, 0.2));
    CHECK(take(&s, 0.5, 0.1) == take(&s, 0.5, 0.1));
    CHECK(take(&s, 0.4 + 1e-9, 0.2) > take(&s, 0.4, 0.1)); /* a tie */
    CHECK(take(&s, INFINITY, 1) < take(&s, 1, 0));
    CHECK(take(&s, -INFINITY, 0) < 1);
    objectives_free(o);
}

TEST(scalar_is_finite_whatever_the_values)
{
    static const char *const methods[] = {"chebyshev", "weights",
                                          "lexicographic"};
    static const double values[] = {-INFINITY, -DBL_MAX, -1,      -0.0,    0,
                                    DBL_MIN,   1,        DBL_MAX, INFINITY};
    const size_t n = sizeof values / sizeof *values;

    for (int m = 0; m < 3; m++) {
        char more[100];
        struct objectives *o;
        struct scalar s;

        snprintf(more, sizeof more, ", \"scalarize\": {\"method\": \"%s\"}",
                 methods[m]);
        o = read(more);
        scalar_init(&s, o);
        for (size_t i = 0; i < n * n; i++) {
            double all = take(&s, values[i / n], values[i % n]);

            CHECK(all >= -1.05 && all <= 2.1);
        }
        CHECK(take(&s, INFINITY, 0) <= take(&s, 1, 0)); /* the best there is */
        CHECK(take(&s, -INFINITY, 0) >= take(&s, -DBL_MAX, 0));
        CHECK(isnan(take(&s, NAN, 0)) && isnan(take(&s, 0, NAN)));
        objectives_free(o);
    }
}

TEST(scalar_beyond_a_limit_is_worse_than_all_within)
{
    struct objectives *o =
        read(", \"resultConstraints\": [\"b <= 20\", \"a >= 0\"]");
    struct scalar s;
    double values[] = {1, 1};

    scalar_init(&s, o);
    take(&s, 100, 0);
    CHECK(take(&s, 0, 20) < take(&s, 100, 20.0001));
    CHECK(take(&s, INFINITY, 21) < take(&s, 0, 22));
    CHECK(take(&s, 0, 22) < take(&s, 0, INFINITY));
    CHECK(take(&s, 0, INFINITY) == 4);
    CHECK(near(take(&s, 5, 40), 3.5));
    CHECK(isnan(take(&s, NAN, 40)));
    CHECK(scalar_take(&s, values, INFINITY) == 4); /* a limit's value is NaN */
    objectives_free(o);
}

TEST(scalar_goes_on_as_saved)
{
    struct objectives *o = read("");
    struct scalar s, t;
    struct unpack in;
    struct buf saved;

    scalar_init(&s, o);
    scalar_init(&t, o);
    take(&s, 1, 5);
    take(&s, -INFINITY, 7);
    buf_init(&saved, 1000);
    scalar_save(&s, &saved);
    in = unpack_from(saved.data, saved.len);
    CHECK_EQ(scalar_load(&t, &in), 0);
    CHECK(unpack_done(&in));
    CHECK(memcmp(&s, &t, sizeof s) == 0);
    in = unpack_from(saved.data, saved.len - 8);
    CHECK_EQ(scalar_load(&t, &in), -1);
    buf_fini(&saved);
    objectives_free(o);
}
