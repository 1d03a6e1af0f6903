/* SPDX-License-Identifier: MIT */
#include "wilcoxon/wilcoxon.h"

#include "numerics/random.h"
#include "t.h"
#include "wilcoxon/signedrank.h"

#include <math.h>
#include <stdio.h>

static bool
near(double got, double want, double tolerance)
{
    bool ok = fabs(got - want) <= tolerance * want;

    if (!ok)
        printf("# got %.17g, expected %.17g\n", got, want);
    return ok;
}

/* Differences of which no two have the same size. */
static double
difference(size_t i)
{
    return (double)(i * 37 % 101) / 7 - 6.05;
}

/* SciPy 1.10.1: wilcoxon(d, alternative="greater", zero_method="zsplit"),
 * exact up to 50. */
TEST(wilcoxon_has_the_probabilities_of_scipy)
{
    static const struct {
        size_t n;
        double p;
    } table[] = {
        {1, 1.0},
        {2, 1.0},
        {5, 0.84375},
        {10, 0.4609375},
        {20, 0.20454883575439453},
        {30, 0.154260384850204},
        {50, 0.04027416717728016},
        {51, 0.04578014063034804},
        {80, 0.013850471099233841},
        {100, 0.008275966352964867},
    };
    double d[128];

    for (size_t i = 0; i < 128; i++)
        d[i] = difference(i);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK(near(signedrank_greater(d, table[i].n), table[i].p, 1e-13));
}

TEST(wilcoxon_corrects_for_ties_as_scipy_does)
{
    double d[60];

    for (size_t i = 0; i < 60; i++)
        d[i] = (double)(i * 37 % 19) - 8;
    CHECK(near(signedrank_greater(d, 60), 0.0687720986710294, 1e-13));
}

/* The sum of doubled ranks above 0, from the definition. */
static double
sum_above(const double *size, unsigned signs, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t below = 0, same = 0;

        for (size_t k = 0; k < n; k++) {
            below += size[k] < size[i];
            same += size[k] == size[i];
        }
        if (size[i] == 0)
            sum += (double)(2 * below + same + 1) / 2;
        else if (signs & 1u << i)
            sum += (double)(2 * below + same + 1);
    }
    return sum;
}

/* Over all signs, one after the other. */
TEST(wilcoxon_counts_all_signs)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct random_stream s = random_stream(seed, RANDOM_TEST, 0, 0);
        size_t n = 1 + (size_t)(random_uniform(&s, 0) * 9), as_large = 0;
        double size[10], d[10], observed;
        unsigned signs = 0;

        for (size_t i = 0; i < n; i++) { /* few values: ties and zeros */
            size[i] = floor(random_uniform(&s, 2 * (uint32_t)i + 1) * 5);
            if (random_uniform(&s, 2 * (uint32_t)i + 2) < 0.6)
                signs |= 1u << i;
            d[i] = signs & 1u << i ? size[i] : -size[i];
        }
        observed = sum_above(size, signs, n);
        for (unsigned k = 0; k < 1u << n; k++)
            as_large += sum_above(size, k, n) >= observed;
        CHECK(near(signedrank_greater(d, n),
                   (double)as_large / (double)(1u << n), 1e-14));
    }
}

TEST(wilcoxon_knows_no_difference_in_zeros)
{
    double d[60] = {0};

    CHECK(signedrank_greater(d, 4) == 1);
    CHECK(signedrank_greater(d, 60) == 0.5);
}

static struct wilcoxon
rule(bool maximize)
{
    return (struct wilcoxon){
        .maximize = maximize, .p_threshold = 0.1, .start_step = 2};
}

static struct wilcoxon_verdict
assess(const struct wilcoxon *w, const double *values, size_t n)
{
    struct wilcoxon_verdict v;

    CHECK_EQ(wilcoxon_assess(w, values, n, &v), 0);
    return v;
}

TEST(wilcoxon_stops_what_is_worse_in_each_pair)
{
    double folds[] = {10, 20, 70, 40, 90}, worse[5], better[5];

    for (int maximize = 0; maximize < 2; maximize++) {
        struct wilcoxon w = rule(maximize);

        for (size_t i = 0; i < 5; i++) {
            worse[i] = folds[i] + (maximize ? -1 : 1) * (double)(i + 1);
            better[i] = folds[i] - (maximize ? -1 : 1) * (double)(i + 1);
        }
        CHECK_EQ(assess(&w, worse, 5).reason, WILCOXON_NO_BEST);
        CHECK_EQ(wilcoxon_succeeded(&w, 3, folds, 5), 0);
        CHECK_EQ(wilcoxon_succeeded(&w, 4, worse, 5), 0); /* not the best */
        CHECK_EQ(w.trial, 3);
        CHECK_EQ(assess(&w, worse, 1).reason, WILCOXON_EARLY);
        CHECK(!assess(&w, worse, 3).stop); /* 1/8 */
        CHECK(assess(&w, worse, 3).p == 0.125);
        CHECK(assess(&w, worse, 4).stop && assess(&w, worse, 5).stop);
        CHECK(!assess(&w, better, 5).stop);
        CHECK(assess(&w, better, 5).p == 1);
        wilcoxon_fini(&w);
    }
}

TEST(wilcoxon_lets_go_on_whose_mean_is_as_good)
{
    struct wilcoxon w = rule(false);
    double best[] = {5, 5, 5, 5, 5}, odd[] = {6, 7, 8, 9, -100};

    w.p_threshold = 0.9;
    CHECK_EQ(wilcoxon_succeeded(&w, 0, best, 5), 0);
    CHECK(assess(&w, odd, 4).stop);
    CHECK_EQ(assess(&w, odd, 5).reason, WILCOXON_MEAN_IS_BEST);
    CHECK(!assess(&w, odd, 5).stop);
    wilcoxon_fini(&w);
}

TEST(wilcoxon_leaves_out_what_is_not_finite)
{
    struct wilcoxon w = rule(true);
    double nan[] = {1, NAN, 3, 4}, fine[] = {1, 2, 3, 4},
           infinite[] = {1, INFINITY};

    CHECK_EQ(wilcoxon_succeeded(&w, 0, nan, 4), 0);
    CHECK_EQ(wilcoxon_succeeded(&w, 1, infinite, 2), 0);
    CHECK(w.best == NULL);
    CHECK_EQ(wilcoxon_succeeded(&w, 2, fine, 4), 0);
    CHECK_EQ(assess(&w, nan, 4).reason, WILCOXON_NOT_FINITE);
    CHECK_EQ(assess(&w, fine, 4).pairs, 4);
    CHECK(!assess(&w, fine, 4).stop);
    wilcoxon_fini(&w);
}

TEST(wilcoxon_compares_as_far_as_both_go)
{
    struct wilcoxon w = rule(false);
    double shorter[] = {1, 1, 1}, longer[] = {2, 2, 2, 2, 2, 2, 2, 2};

    CHECK_EQ(wilcoxon_succeeded(&w, 0, shorter, 3), 0);
    CHECK_EQ(assess(&w, longer, 8).pairs, 3);
    CHECK(assess(&w, longer, 8).p == 0.125);
    wilcoxon_fini(&w);
}
