/* SPDX-License-Identifier: MIT */
/* The algorithm of tpe as a whole; its parts are in tpe_parts_test.c. */
#include "tpe/tpe.h"

#include "numerics/elementary.h"
#include "t.h"
#include "unit/tpe_help.h"

#include <math.h>
#include <stdlib.h>

NOT_UNDER_TSAN;

#define BOX                                          \
    "{'a': {'_type': 'uniform', '_value': [-5, 5]}," \
    " 'b': {'_type': 'uniform', '_value': [-5, 5]}}"
#define MIXED                                                    \
    "{'lr': {'_type': 'loguniform', '_value': [0.0001, 1]},"     \
    " 'units': {'_type': 'qloguniform', '_value': [8, 256, 8]}," \
    " 'depth': {'_type': 'randint', '_value': [1, 9]},"          \
    " 'drop': {'_type': 'quniform', '_value': [0, 0.5, 0.1]},"   \
    " 'noise': {'_type': 'normal', '_value': [0, 2]},"           \
    " 'act': {'_type': 'choice', '_value': ['a', 'b', 'c']}}"

static double
bowl(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (x[i] - 1) * (x[i] - 1);
    return sum;
}

/* The best of n suggestions, with the results told at once. */
static double
best_of(const struct tpe_options *options, const struct space *space,
        uint64_t seed, size_t n)
{
    struct tpe *t = help_tpe(options, space);
    double best = INFINITY, x[X_MAX];

    for (uint64_t id = 0; id < n; id++) {
        double value;

        help_ask(t, space, seed, id, x);
        value = bowl(x, t->n_dims);
        CHECK(tpe_tell(t, id, x, TPE_FINAL, options->maximize ? -value : value,
                       0) == 0);
        tpe_points_ended(&t->points, id, true);
        best = value < best ? value : best;
    }
    tpe_free(t);
    return best;
}

TEST(tpe_finds_the_middle_of_a_bowl)
{
    struct space *space = help_space(BOX);
    struct tpe_options options = help_options(), prior = options;
    double model = 0, random = 0;

    prior.startup = 1000;
    for (uint64_t seed = 0; seed < 5; seed++) {
        model += best_of(&options, space, seed, 60);
        random += best_of(&prior, space, seed, 60);
    }
    printf("# %g by the model, %g without\n", model / 5, random / 5);
    CHECK(model < random / 5);
    space_free(space);
}

TEST(tpe_maximises_as_it_minimises)
{
    struct space *space = help_space(MIXED);
    struct tpe_options low = help_options(), high = low;
    double a, b;

    high.maximize = true;
    a = best_of(&low, space, 3, 40);
    b = best_of(&high, space, 3, 40);
    CHECK(a == b);
    space_free(space);
}

/* NNI's, with its gamma of 0.25 and at most 25. */
TEST(tpe_takes_the_share_that_gamma_says_as_nni)
{
    static const size_t want[][2] = {{20, 2},     {50, 2},    {64, 2},
                                     {65, 3},     {100, 3},   {400, 5},
                                     {10000, 25}, {10001, 25}};
    struct tpe_options options = help_options();

    options.gamma = 0.25;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK_EQ(tpe_n_good(&options, want[i][0]), want[i][1]);
}

TEST(tpe_forgets_linearly_as_nni)
{
    static const double want[] = {0.03333333333333333, 0.275,
                                  0.5166666666666667, 0.7583333333333333, 1};

    for (size_t i = 0; i < 25; i++)
        CHECK(tpe_weight(25, 25, i) == 1);
    CHECK(tpe_weight(25, 26, 0) == 0.038461538461538464);
    CHECK(tpe_weight(25, 26, 1) == 1);
    for (size_t i = 0; i < 5; i++)
        CHECK(fabs(tpe_weight(25, 30, i) - want[i]) < 1e-15);
    CHECK(tpe_weight(25, 30, 29) == 1);
}

/* 20 results near the middle of [0, 1], the best there; then many are asked
 * for without a result. */
static double
spread_of(enum tpe_liar liar)
{
    struct space *space =
        help_space("{'x': {'_type': 'uniform', '_value': [0, 1]}}");
    struct tpe_options options = help_options();
    struct tpe *t;
    double x, sum = 0, squares = 0;

    options.liar = liar;
    t = help_tpe(&options, space);
    for (uint64_t id = 0; id < 40; id++) {
        x = (double)id / 40;
        CHECK(tpe_open(t, id, &x) == 0);
        CHECK(tpe_tell(t, id, &x, TPE_FINAL, fabs(x - 0.5), 0) == 0);
    }
    for (uint64_t id = 40; id < 90; id++) {
        help_ask(t, space, 1, id, &x);
        sum += x;
        squares += x * x;
    }
    tpe_free(t);
    space_free(space);
    return squares / 50 - sum / 50 * sum / 50;
}

TEST(tpe_keeps_away_from_running_trials)
{
    double worst = spread_of(TPE_LIAR_WORST), none = spread_of(TPE_LIAR_NONE);
    double best = spread_of(TPE_LIAR_BEST), mean = spread_of(TPE_LIAR_MEAN);

    printf("# variance: worst %g, mean %g, none %g, best %g\n", worst, mean,
           none, best);
    CHECK(worst > 2 * none);
    CHECK(mean == worst); /* the average is worse than the good ones */
    CHECK(best != worst && best != none);
}

TEST(tpe_tries_nothing_twice_where_there_is_something_else)
{
    struct space *space =
        help_space("{'k': {'_type': 'choice', '_value': ['a', 'b', 'c', 'd']},"
                   " 'n': {'_type': 'randint', '_value': [0, 10]},"
                   " 'q': {'_type': 'quniform', '_value': [0, 1, 0.5]}}");
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space);
    char seen[4][10][3] = {{{0}}};
    size_t twice = 0;
    double x[3];

    for (uint64_t id = 0; id < 100; id++) {
        char *mark;

        help_ask(t, space, 5, id, x);
        mark = &seen[(int)x[0]][(int)x[1]][(int)num_round_even(x[2] / 0.5)];
        twice += id >= options.startup && *mark;
        *mark = 1;
        CHECK(tpe_tell(t, id, x, TPE_FINAL, x[0] + x[1] + x[2], 0) == 0);
    }
    CHECK_EQ(twice, 0);
    tpe_free(t);
    space_free(space);
}

/* What it suggests is what it scores highest; nothing changes by it. */
TEST(tpe_scores_points_as_it_chooses_them)
{
    struct space *space = help_space(MIXED);
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space), *u = help_tpe(&options, space);
    enum { N = 60 };
    double x[X_MAX], y[X_MAX], samples[N][X_MAX], out[N + 1];
    const double *points[N + 1];
    size_t below = 0;

    for (size_t i = 0; i < N; i++) {
        space_sample(space, 7, 1000 + i, samples[i]);
        points[i] = samples[i];
    }
    CHECK(tpe_score(t, points, N, out) == 0 && isnan(out[0]));
    for (uint64_t id = 0; id < 30; id++) {
        help_ask(t, space, 5, id, x);
        help_ask(u, space, 5, id, y);
        CHECK(memcmp(x, y, t->n_dims * sizeof *x) == 0);
        CHECK(tpe_tell(t, id, x, TPE_FINAL, x[0], 0) == 0);
        CHECK(tpe_tell(u, id, y, TPE_FINAL, y[0], 0) == 0);
        CHECK(tpe_score(t, points, N, out) == 0);
    }
    CHECK(tpe_ask(u, help_uniform, &(uint64_t){5}, 30, x,
                  &(struct tpe_reason){0}) == 0);
    points[N] = x;
    CHECK(tpe_score(t, points, N + 1, out) == 0);
    for (size_t i = 0; i < N; i++)
        below += out[i] < out[N];
    CHECK(below >= N * 9 / 10);
    tpe_free(t);
    tpe_free(u);
    space_free(space);
}

/* Filters ask again when they do not like an answer. */
TEST(tpe_answers_otherwise_when_asked_again)
{
    struct space *space = help_space(MIXED);
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space);
    double x[X_MAX], y[X_MAX];

    for (uint64_t id = 0; id < 20; id++) {
        help_ask(t, space, 5, id, x);
        CHECK(tpe_tell(t, id, x, TPE_FINAL, x[0], 0) == 0);
    }
    help_ask(t, space, 5, 20, x);
    help_ask(t, space, 5, 20, y);
    CHECK(memcmp(x, y, t->n_dims * sizeof *x) != 0);
    CHECK_EQ(t->points.n, 21);
    CHECK_EQ(t->points.n_open, 1);
    tpe_free(t);
    space_free(space);
}

TEST(tpe_places_what_failed_was_stopped_or_has_no_number)
{
    struct space *space = help_space(BOX);
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space);
    struct tpe_reason why;
    uint64_t seed = 1;
    double x[2];

    options.startup = 1;
    for (uint64_t id = 0; id < 8; id++) {
        space_sample(space, 1, id, x);
        CHECK(tpe_open(t, id, x) == 0);
    }
    CHECK_EQ(t->points.n_open, 8);
    CHECK(!tpe_is_ready(t));
    tpe_tell(t, 0, t->points.x, TPE_STOPPED, -100, 3);
    tpe_tell(t, 1, t->points.x + 2, TPE_FINAL, NAN, 0);
    tpe_tell(t, 2, t->points.x + 4, TPE_FINAL, -INFINITY, 0);
    tpe_tell(t, 3, t->points.x + 6, TPE_FINAL, 5, 0);
    tpe_points_ended(&t->points, 4, true);
    tpe_points_ended(&t->points, 5, false);
    tpe_tell(t, 6, t->points.x + 12, TPE_STOPPED, -50, 7);
    CHECK_EQ(t->points.n_failed, 3);
    CHECK_EQ(t->points.n_done, 1);
    CHECK_EQ(t->points.n_open, 1);
    CHECK_EQ(t->points.ranked[0], 3);
    CHECK_EQ(t->points.ranked[1], 6); /* it got further */
    CHECK_EQ(t->points.ranked[2], 0);
    CHECK(tpe_ask(t, help_uniform, &seed, 8, x, &why) == 0);
    CHECK_EQ(why.n_good, 1);
    CHECK_EQ(why.n_rest, 6); /* not 5, of which nothing is known */
    /* A result may come after the end. */
    tpe_tell(t, 5, t->points.x + 10, TPE_FINAL, 1, 0);
    tpe_tell(t, 4, t->points.x + 8, TPE_FINAL, 9, 0);
    CHECK_EQ(t->points.ranked[0], 5);
    CHECK_EQ(t->points.ranked[2], 4);
    CHECK_EQ(t->points.n_failed, 2);
    tpe_free(t);
    space_free(space);
}

/* Only stopped results: the one that got furthest is what there is. */
TEST(tpe_makes_do_with_stopped_results)
{
    struct space *space = help_space(BOX);
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space);
    double x[2];

    for (uint64_t id = 0; id < 30; id++) {
        help_ask(t, space, 2, id, x);
        tpe_tell(t, id, x, TPE_STOPPED, bowl(x, 2), id % 4);
        tpe_points_ended(&t->points, id, true);
    }
    CHECK_EQ(t->points.n_stopped, 30);
    tpe_free(t);
    space_free(space);
}

/* The same results in the order in which trials end, not in that of ids. */
TEST(tpe_learns_from_imports_and_out_of_order)
{
    struct space *space = help_space(BOX);
    struct tpe_options options = help_options();
    struct tpe *t = help_tpe(&options, space);
    double x[2], sum = 0;

    for (uint64_t i = 0; i < 200; i++) {
        space_sample(space, 7, i, x);
        if (i % 2 == 0)
            CHECK(tpe_tell(t, POINTS_NO_ID, x, TPE_FINAL, bowl(x, 2), 0) == 0);
        else
            CHECK(tpe_open(t, 300 - i, x) == 0);
    }
    CHECK_EQ(t->points.n_done, 100);
    for (uint64_t id = 101; id < 300; id += 2) {
        size_t i = tpe_points_find(&t->points, id);

        CHECK(t->points.all[i].id == id);
        x[0] = t->points.x[2 * i];
        x[1] = t->points.x[2 * i + 1];
        CHECK(tpe_tell(t, id, x, TPE_FINAL, bowl(x, 2), 0) == 0);
    }
    CHECK_EQ(t->points.n_done, 200);
    CHECK_EQ(t->points.n_open, 0);
    CHECK(tpe_points_find(&t->points, 102) == t->points.n);
    for (size_t i = 1; i < 200; i++)
        CHECK(t->points.all[t->points.ranked[i - 1]].loss <=
              t->points.all[t->points.ranked[i]].loss);
    for (uint64_t id = 300; id < 320; id++) {
        help_ask(t, space, 7, id, x);
        sum += bowl(x, 2);
        CHECK(tpe_tell(t, id, x, TPE_FINAL, bowl(x, 2), 0) == 0);
    }
    CHECK(sum / 20 < 5); /* 18.7 for the prior */
    tpe_free(t);
    space_free(space);
}
