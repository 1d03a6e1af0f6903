/* SPDX-License-Identifier: MIT */
#include "auto_assessor/choice.h"

#include "plugin/state.h"
#include "unit/save_help.h"

#include <math.h>

NOT_UNDER_TSAN;

enum { STEPS = 12 };

static void *
make(void)
{
    static const struct choice_options options = {
        .bound = 0.2, .startup = 3, .one_in = 10};

    return choice_new(&options);
}

/* Trial i runs under c; how many values it had. */
static size_t
run(struct choice *c, uint64_t i, double (*curve)(double, size_t))
{
    double values[STEPS], x = (double)(i * 37 % 101) / 101;
    struct choice_verdict v;

    for (size_t n = 1; n <= STEPS; n++) {
        values[n - 1] = curve(x, n);
        choice_assess(c, i, values, n, &v);
        CHECK(!v.stop || (i >= 3 && i % 10 != 9 && v.best > v.limit));
        if (v.stop)
            return n;
    }
    CHECK_EQ(choice_succeeded(c, i, values, STEPS), 0);
    return STEPS;
}

/* Values of 200 trials, as a share of what they would be without stopping. */
static double
spent(struct choice *c, double (*curve)(double, size_t))
{
    size_t n = 0;

    for (uint64_t i = 0; i < 200; i++)
        n += run(c, i, curve);
    return (double)n / (200 * STEPS);
}

static double
aligned(double x, size_t n)
{
    return x + 1 / (double)n;
}

/* What is best in the end is worst until the last values. */
static double
crossing(double x, size_t n)
{
    return n < STEPS - 1 ? 3 - x : x;
}

TEST(auto_assessor_stops_early_where_what_is_ahead_stays_ahead)
{
    struct choice *c = make();
    struct choice_verdict v;
    double far = 9;

    CHECK(spent(c, aligned) < 0.35);
    choice_assess(c, 1000, &far, 1, &v);
    CHECK(v.stop && v.rule.percentile == 10 && v.rule.part == 0);
    choice_free(c);
}

TEST(auto_assessor_gives_up_rules_that_stop_what_is_good)
{
    struct choice *c = make();
    struct choice_verdict v;
    double far = 9;

    CHECK(spent(c, crossing) > 0.7);
    choice_assess(c, 1000, &far, 1, &v);
    CHECK(!v.stop);
    choice_free(c);
}

/* What it wanted to stop, and what it did not: one trial in ten. */
TEST(auto_assessor_lets_some_trials_run_to_the_end)
{
    struct choice *c = make();
    struct choice_verdict v;
    double far = 9;

    spent(c, aligned);
    for (uint64_t i = 1000; i < 1020; i++) {
        choice_assess(c, i, &far, 1, &v);
        CHECK(v.stop == (i % 10 != 9) && v.is_control == (i % 10 == 9));
    }
    choice_free(c);
}

TEST(auto_assessor_takes_nan_and_infinities)
{
    const double bad[] = {NAN, NAN, NAN}, worse[] = {INFINITY, NAN, 5},
                 best[] = {-INFINITY, 1, 1};
    struct choice *c = make();
    struct choice_verdict v;

    CHECK_EQ(choice_succeeded(c, 0, bad, 3), 0);
    CHECK_EQ(c->n_finals, 0); /* says nothing */
    for (uint64_t i = 1; i < 5; i++)
        CHECK_EQ(choice_succeeded(c, i, i % 2 ? worse : best, 3), 0);
    choice_assess(c, 5, bad, 1, &v);
    CHECK(v.stop && isnan(v.best));
    choice_free(c);
}

static void
save(const void *c, struct buf *out)
{
    struct tp_sink sink = state_sink(out);

    choice_save(c, &sink);
}

static int
load(void *c, struct unpack *in)
{
    struct tp_source source = state_source(in);

    if (choice_load(c, &source) != NULL)
        in->failed = true;
    return in->failed ? -1 : 0;
}

static void
drop(void *c)
{
    choice_free(c);
}

TEST(auto_assessor_goes_on_from_what_was_saved)
{
    static const struct saved kind = {make, save, load, drop};
    struct choice *c = make(), *twin;

    for (uint64_t i = 0; i < 40; i++)
        run(c, i, aligned);
    twin = saved_twin(&kind, c);
    for (uint64_t i = 40; i < 80; i++)
        CHECK_EQ(run(c, i, crossing), run(twin, i, crossing));
    saved_survives_damage(&kind, c, 400);
    choice_free(c);
    choice_free(twin);
}
