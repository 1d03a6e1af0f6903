/* SPDX-License-Identifier: MIT */
/* Which points are good where results have several costs. */
#include "tpe/several.h"

#include "numerics/front.h"
#include "numerics/hypervolume.h"
#include "numerics/random.h"
#include "t.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

enum { POINTS = 40, COSTS = 3 };

struct known {
    struct several several;
    struct points points;
};

static const double nowhere[1];

/* One of seven failed. */
static void
know(struct known *k, uint64_t seed, bool limited)
{
    struct random_stream r = random_stream(seed, RANDOM_TEST, 3, 0);
    uint32_t at = 0;

    memset(k, 0, sizeof *k);
    k->several.n_costs = COSTS;
    tpe_points_init(&k->points, 0);
    for (size_t i = 0; i < POINTS; i++) {
        double costs[COSTS], violation = 0;

        for (size_t c = 0; c < COSTS; c++)
            costs[c] = floor(8 * random_uniform(&r, at++));
        if (limited)
            violation = floor(4 * random_uniform(&r, at++)) - 1;
        CHECK_EQ(tpe_points_add(&k->points, NULL, i, nowhere), 0);
        tpe_points_tell(&k->points, i, false, i % 7 == 3 ? (double)NAN : 0, 0);
        CHECK_EQ(tpe_several_add(&k->several, costs, violation,
                                 &k->points.all[i].row),
                 0);
    }
}

static void
forget(struct known *k)
{
    tpe_several_fini(&k->several);
    tpe_points_fini(&k->points);
}

static const double *
costs_at(const struct known *k, size_t place)
{
    return k->several.costs +
           k->points.all[k->points.ranked[place]].row * COSTS;
}

static double
volume(const double *costs, size_t n, const double *reference)
{
    double out;

    CHECK_EQ(hypervolume(costs, n, COSTS, reference, &out), 0);
    return out;
}

/* Of places `first` up to `end`, a front: each adds most of those behind it. */
static void
check_greed(const struct known *k, size_t first, size_t end, size_t want)
{
    double chosen[(POINTS + 1) * COSTS], reference[COSTS];

    for (size_t c = 0; c < COSTS; c++) {
        double least = INFINITY, most = -INFINITY;

        for (size_t i = first; i < end; i++) {
            least = fmin(least, costs_at(k, i)[c]);
            most = fmax(most, costs_at(k, i)[c]);
        }
        reference[c] = most + (most > least ? 0.1 * (most - least) : 1);
    }
    for (size_t i = first; i < end && i < want; i++) {
        double *next = chosen + (i - first) * COSTS, most = -1, got = 0;

        for (size_t j = end; j-- > i;) { /* its own is the last */
            memcpy(next, costs_at(k, j), COSTS * sizeof *next);
            got = volume(chosen, i - first + 1, reference);
            most = fmax(most, got);
        }
        CHECK(got >= most - 1e-9);
    }
}

TEST(tpe_good_points_are_fronts_and_the_best_of_one)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t want = 1 + seed % 20, first = 0;
        double costs[POINTS * COSTS], violations[POINTS];
        uint32_t ranks[POINTS];
        struct known k;
        size_t n;

        know(&k, seed, seed % 3 == 0);
        n = k.points.n_done;
        CHECK_EQ(n, 34);
        CHECK_EQ(tpe_several_order(&k.several, &k.points, want), 0);
        for (size_t i = 0; i < n; i++) {
            memcpy(costs + i * COSTS, costs_at(&k, i), COSTS * sizeof *costs);
            violations[i] =
                k.several.violations[k.points.all[k.points.ranked[i]].row];
            CHECK(k.points.all[k.points.ranked[i]].loss == (double)i);
        }
        CHECK_EQ(front_ranks(costs, violations, n, COSTS, ranks), 0);
        while (first < want) {
            size_t end = first;

            while (end < n && ranks[end] == ranks[first])
                end++;
            for (size_t i = end; i < n; i++)
                CHECK(ranks[i] > ranks[first]);
            check_greed(&k, first, end, want);
            first = end;
        }
        tpe_several_level(&k.points);
        for (size_t i = 0; i < n; i++) {
            CHECK(k.points.all[k.points.ranked[i]].loss == 0);
            CHECK(i == 0 || k.points.ranked[i - 1] < k.points.ranked[i]);
        }
        forget(&k);
    }
}
