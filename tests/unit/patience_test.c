/* SPDX-License-Identifier: MIT */
#include "patience/patience.h"

#include "t.h"

#include <math.h>

static bool
stops(const struct patience *p, const double *values, size_t n)
{
    return patience_assess(p, values, n).stop;
}

TEST(patience_waits_for_a_better_value)
{
    static const double up[] = {1, 3, 2, 2, 2, 4, 4, 4, 4, 5};

    for (int maximize = 0; maximize < 2; maximize++) {
        struct patience p = {.maximize = maximize, .patience = 3};
        double values[10];

        for (size_t i = 0; i < 10; i++)
            values[i] = maximize ? up[i] : -up[i];
        for (size_t n = 1; n <= 10; n++) /* 3, then three that are not; 4 */
            CHECK_EQ(stops(&p, values, n), n == 5 || n == 9);
    }
}

TEST(patience_judges_nothing_before_it_may)
{
    struct patience p = {.maximize = true, .patience = 2, .start_step = 6};
    double values[] = {5, 4, 3, 2, 1, 0};

    CHECK(!patience_assess(&p, values, 5).judged);
    CHECK(stops(&p, values, 6));
    p.start_step = 0;
    CHECK(!patience_assess(&p, values, 2).judged);
    CHECK(stops(&p, values, 3));
}

TEST(patience_asks_for_more_than_min_delta)
{
    struct patience p = {.maximize = true, .patience = 2, .min_delta = 0.5};
    double little[] = {1, 1.25, 1.5}, much[] = {1, 1.25, 1.75},
           worse[] = {1, 0.75, 0.625};

    CHECK(stops(&p, little, 3));
    CHECK(!stops(&p, much, 3));
    p.min_delta = -0.5;
    CHECK(!stops(&p, worse, 3)); /* so much worse it may become */
    p.min_delta = -0.25;
    CHECK(stops(&p, worse, 3));
}

TEST(patience_takes_nan_for_no_better)
{
    struct patience p = {.maximize = true, .patience = 2};
    double then[] = {1, NAN, NAN}, first[] = {NAN, 1, NAN},
           all[] = {NAN, NAN, NAN};

    CHECK(stops(&p, then, 3));
    CHECK(!stops(&p, first, 3)); /* nothing to become better than */
    CHECK(!stops(&p, all, 3));
    CHECK_EQ(patience_assess(&p, all, 3).at, 0);
}

TEST(patience_names_what_it_compared)
{
    struct patience p = {.patience = 2};
    double values[] = {4, 2, 2, 3, 2.5};
    struct patience_verdict v = patience_assess(&p, values, 5);

    CHECK(v.stop && v.before == 2 && v.at == 2 && v.after == 2.5);
}
