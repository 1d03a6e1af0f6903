/* SPDX-License-Identifier: MIT */
#include "percentile/percentile.h"

#include "core/pack.h"
#include "medianstop/medianstop.h"
#include "numerics/random.h"
#include "plugin/state.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct percentile_rule
rule(bool maximize, double percentile)
{
    return (struct percentile_rule){.maximize = maximize,
                                    .percentile = percentile,
                                    .interval = 1,
                                    .min_trials = 1};
}

static struct percentile_verdict
assess(const struct percentile *p, const double *values, size_t n)
{
    struct percentile_verdict v;

    percentile_assess(p, values, n, n - 1, &v);
    return v;
}

/* NumPy 1.24.2 */
TEST(percentile_interpolates_as_numpy_does)
{
    static const double five[] = {0.1, 0.25, 0.3, 0.7, 1.9}, two[] = {3, 8.5};
    static const struct {
        double q, of_five, of_two;
    } table[] = {
        {0, 0.1, 3.0},
        {10, 0.16, 3.55},
        {25, 0.25, 4.375},
        {33.3, 0.2666, 4.8315},
        {50, 0.3, 5.75},
        {75, 0.7, 7.125},
        {99, 1.8519999999999999, 8.445},
        {100, 1.9, 8.5},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        CHECK(percentile_of(five, 5, table[i].q) == table[i].of_five);
        CHECK(percentile_of(two, 2, table[i].q) == table[i].of_two);
        CHECK(percentile_of(two, 1, table[i].q) == 3);
    }
    CHECK(percentile_of((double[]){-INFINITY, -INFINITY, 1}, 3, 25) ==
          -INFINITY);
}

TEST(percentile_keeps_the_best_share)
{
    for (int maximize = 0; maximize < 2; maximize++) {
        struct percentile_rule r = rule(maximize, 25);
        struct percentile *p = percentile_new(&r);
        size_t kept = 0;

        for (int i = 0; i <= 100; i++) {
            double value = i * 37 % 101;

            CHECK_EQ(percentile_succeeded(p, &value, 1), 0);
        }
        for (int i = 0; i <= 100; i++) {
            double value = i;

            kept += !assess(p, &value, 1).stop;
        }
        CHECK_EQ(kept, 26);
        CHECK(assess(p, (double[]){50}, 1).limit == (maximize ? 75 : 25));
        percentile_free(p);
    }
}

TEST(percentile_waits_for_trials_and_values)
{
    struct percentile_rule r = rule(true, 50);
    struct percentile *p;
    double values[] = {0, 0, 0, 0}, good[] = {9, 9, 9};
    struct percentile_verdict v;

    r.startup_trials = 2;
    r.start_step = 2;
    r.interval = 2;
    r.min_trials = 2;
    p = percentile_new(&r);
    CHECK_EQ(assess(p, values, 2).reason, PERCENTILE_FEW_TRIALS);
    CHECK_EQ(percentile_succeeded(p, good, 3), 0);
    CHECK_EQ(assess(p, values, 2).reason, PERCENTILE_FEW_TRIALS);
    CHECK_EQ(percentile_succeeded(p, good, 2), 0);
    CHECK_EQ(assess(p, values, 1).reason, PERCENTILE_EARLY);
    CHECK(assess(p, values, 2).stop);
    CHECK_EQ(assess(p, values, 3).reason, PERCENTILE_BETWEEN);
    percentile_assess(p, values, 3, 1, &v);     /* 2 was never looked at */
    CHECK_EQ(v.reason, PERCENTILE_FEW_AT_STEP); /* 3 has one trial */
    CHECK_EQ(assess(p, values, 4).reason, PERCENTILE_FEW_AT_STEP);
    percentile_free(p);
}

TEST(percentile_of_nan)
{
    struct percentile_rule r = rule(false, 50);
    struct percentile *p = percentile_new(&r);

    CHECK_EQ(percentile_succeeded(p, (double[]){NAN, 1}, 2), 0);
    CHECK_EQ(assess(p, (double[]){5}, 1).reason, PERCENTILE_FEW_AT_STEP);
    CHECK(assess(p, (double[]){NAN, NAN}, 2).stop);
    CHECK(!assess(p, (double[]){0.5, NAN}, 2).stop);
    CHECK(assess(p, (double[]){NAN, 2}, 2).stop);
    percentile_free(p);
}

/* With averages the 50th percentile is the median stopping rule, but for an
 * even number of averages, where that one takes the middle that stops fewer
 * and this one what lies between both. */
TEST(percentile_of_averages_is_the_median_stopping_rule)
{
    struct random_stream s = random_stream(5, RANDOM_TEST, 0, 0);
    struct percentile_rule r = rule(true, 50);
    struct percentile *p;
    struct medianstop *m = medianstop_new(true, 0);
    uint32_t draw = 0;
    size_t compared = 0;

    r.averages = true;
    p = percentile_new(&r);
    for (int trial = 0; trial < 301; trial++) {
        struct medianstop_trial *t = NULL;
        double values[8];

        for (size_t n = 1; n <= 8; n++) {
            struct percentile_verdict v;
            struct medianstop_verdict w;

            values[n - 1] = random_uniform(&s, draw++);
            v = assess(p, values, n);
            CHECK_EQ(medianstop_assess(m, &t, values, n, &w), 0);
            CHECK_EQ(v.reason == PERCENTILE_JUDGED, w.compared);
            if (w.compared && v.trials % 2 == 1) {
                CHECK(v.limit == w.median && v.best == w.best);
                CHECK_EQ(v.stop, w.stop);
                compared++;
            } else if (w.compared) {
                CHECK(v.limit >= w.median);
            }
        }
        CHECK_EQ(percentile_succeeded(p, values, 8), 0);
        CHECK_EQ(medianstop_ended(m, &t, values, true), 0);
    }
    CHECK_EQ(compared, 150 * 8);
    percentile_free(p);
    medianstop_free(m);
}

TEST(percentile_goes_on_from_what_was_saved)
{
    struct percentile_rule r = rule(true, 30);
    struct percentile *p = percentile_new(&r), *loaded = percentile_new(&r);
    struct buf first, second;
    struct unpack from;
    struct tp_sink sink;
    struct tp_source source;
    double values[] = {3, 1, 2};

    buf_init(&first, 1 << 16);
    buf_init(&second, 1 << 16);
    for (size_t n = 1; n <= 3; n++)
        CHECK_EQ(percentile_succeeded(p, values, n), 0);
    sink = state_sink(&first);
    percentile_save(p, &sink);
    from = unpack_from(first.data, first.len);
    source = state_source(&from);
    CHECK(percentile_load(loaded, &source) == NULL);
    CHECK(unpack_done(&from));
    sink = state_sink(&second);
    percentile_save(loaded, &sink);
    CHECK_EQ(first.len, second.len);
    CHECK(memcmp(first.data, second.data, first.len) == 0);
    CHECK(assess(loaded, values, 2).limit == assess(p, values, 2).limit);
    for (size_t len = 0; len < first.len; len += 8) {
        struct percentile *broken = percentile_new(&r);

        from = unpack_from(first.data, len);
        source = state_source(&from);
        CHECK(percentile_load(broken, &source) != NULL);
        percentile_free(broken);
    }
    buf_fini(&first);
    buf_fini(&second);
    percentile_free(p);
    percentile_free(loaded);
}
