/* SPDX-License-Identifier: MIT */
#include "threshold/threshold.h"

#include "t.h"

#include <math.h>

#define ALL                                                  \
    {                                                        \
        .lower = -INFINITY, .upper = INFINITY, .interval = 1 \
    }

TEST(threshold_holds_each_value_against_both_bounds)
{
    struct threshold t = {.lower = -1, .upper = 2, .interval = 1};
    static const struct {
        double value;
        enum threshold_reason reason;
    } cases[] = {
        {0, THRESHOLD_WITHIN},       {-1, THRESHOLD_WITHIN},
        {2, THRESHOLD_WITHIN},       {-1.5, THRESHOLD_BELOW},
        {2.5, THRESHOLD_ABOVE},      {NAN, THRESHOLD_NAN},
        {INFINITY, THRESHOLD_ABOVE}, {-INFINITY, THRESHOLD_BELOW},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct threshold_verdict v =
            threshold_assess(&t, &cases[i].value, 1, 0);

        CHECK_EQ(v.reason, cases[i].reason);
        CHECK_EQ(v.stop, cases[i].reason != THRESHOLD_WITHIN);
        CHECK_EQ(v.step, 1);
    }
}

TEST(threshold_without_bounds_stops_nan_alone)
{
    struct threshold t = ALL;
    double values[] = {INFINITY, -INFINITY, 0, NAN};

    CHECK(!threshold_assess(&t, values, 3, 0).stop);
    CHECK(threshold_assess(&t, values, 4, 3).stop);
}

TEST(threshold_looks_at_values_from_start_step_on)
{
    struct threshold t = ALL;
    double values[] = {9, 9, 0, 9};

    t.upper = 5;
    t.start_step = 3;
    CHECK_EQ(threshold_assess(&t, values, 2, 1).reason, THRESHOLD_EARLY);
    CHECK_EQ(threshold_assess(&t, values, 3, 2).reason, THRESHOLD_WITHIN);
    CHECK_EQ(threshold_assess(&t, values, 3, 0).reason, THRESHOLD_WITHIN);
    CHECK_EQ(threshold_assess(&t, values, 4, 3).reason, THRESHOLD_ABOVE);
}

TEST(threshold_looks_at_each_interval)
{
    struct threshold t = ALL;
    double values[] = {0, 0, 9, 0, 9, 0, 0, 9};

    t.upper = 5;
    t.start_step = 2;
    t.interval = 3; /* 2, 5, 8 */
    CHECK(!threshold_assess(&t, values, 3, 2).stop);
    CHECK_EQ(threshold_assess(&t, values, 4, 3).reason, THRESHOLD_BETWEEN);
    CHECK_EQ(threshold_assess(&t, values, 5, 4).step, 5);
    CHECK(threshold_assess(&t, values, 5, 4).stop);
    CHECK(!threshold_assess(&t, values, 7, 5).stop);
    CHECK_EQ(threshold_assess(&t, values, 8, 5).step, 8);
}

TEST(threshold_misses_none_of_several_new_values)
{
    struct threshold t = ALL;
    double values[] = {0, 9, 0, 0};

    t.upper = 5;
    CHECK_EQ(threshold_assess(&t, values, 4, 1).step, 2);
    CHECK(threshold_assess(&t, values, 4, 0).stop);
    CHECK(!threshold_assess(&t, values, 4, 2).stop);
}
