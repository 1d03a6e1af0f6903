/* SPDX-License-Identifier: MIT */
#include "bohb/model.h"

#include "unit/prior_help.h"

#include <math.h>

NOT_UNDER_TSAN;

struct world {
    uint64_t seed;
    struct space *space;
    struct model *m;
    double x[X_MAX];
    struct model_origin origin;
};

static const struct model_options published = {
    .maximize = false,
    .top_percent = 15,
    .num_samples = 64,
    .random_fraction = 1.0 / 3,
    .bandwidth_factor = 3,
    .min_bandwidth = 0.001,
};

static bool
is_near(double a, double b, double error)
{
    return fabs(a - b) <= error;
}

static void
set_space(struct world *w)
{
    const struct tp_space *s = space_dims(w->space);
    struct prior prior = help_prior(w->space);
    struct axis *axes = calloc(s->n_dims + 1, sizeof *axes);

    for (size_t i = 0; i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    CHECK_EQ(model_space(w->m, &prior, axes), 0);
}

static struct world *
world_new(const char *space, const struct model_options *options)
{
    struct world *w = calloc(1, sizeof *w);

    w->seed = 5;
    w->space = help_space(space);
    w->m = model_new(options, 3);
    set_space(w);
    return w;
}

static void
world_free(struct world *w)
{
    model_free(w->m);
    space_free(w->space);
    free(w);
}

static void
ask(struct world *w, uint64_t id, uint64_t again)
{
    struct prior_random random = help_random(&w->seed);

    model_ask(w->m, &random, id, again, false, w->x, &w->origin);
    if (!w->origin.is_modelled && !w->origin.is_fraction)
        prior_fill(&w->m->prior, w->x, &random, id, 1 << 29);
    help_check_point(w->space, w->x);
}

/* A draw of the prior, and what became of it. */
static void
learn(struct world *w, size_t level, uint64_t n, double value)
{
    struct prior_random random = help_random(&w->seed);

    prior_fill(&w->m->prior, w->x, &random, n, 1 << 30);
    CHECK_EQ(model_learn(w->m, level, n, w->x, value, false), 0);
}

#define LINE "{'u': {'_type': 'uniform', '_value': [-1, 1]}}"

/* Two parameters need six results: three good ones, and three more. */
TEST(bohb_models_the_greatest_budget_with_enough_results)
{
    struct model_options options = published;
    struct world *w;

    options.random_fraction = 0;
    w = world_new("{'u': {'_type': 'uniform', '_value': [0, 1]},"
                  " 'v': {'_type': 'uniform', '_value': [0, 1]}}",
                  &options);
    for (uint64_t n = 0; n < 40; n++) {
        ask(w, 1, 0);
        CHECK_EQ(w->origin.needed, 6);
        CHECK(w->origin.is_modelled == (n >= 6));
        learn(w, 0, n, (double)n);
    }
    for (uint64_t n = 0; n < 6; n++) {
        ask(w, 1, 0);
        CHECK_EQ(w->origin.level, 0);
        CHECK_EQ(w->origin.n_results, 40);
        CHECK_EQ(w->origin.n_good, 6);
        CHECK_EQ(w->origin.n_others, 34);
        learn(w, 2, n, (double)n);
    }
    ask(w, 1, 0);
    CHECK_EQ(w->origin.level, 2);
    CHECK_EQ(w->origin.n_good, 3);
    CHECK_EQ(w->origin.n_others, 3);
    for (uint64_t n = 0; n < 50; n++)
        learn(w, 1, n, (double)n);
    ask(w, 1, 0);
    CHECK_EQ(w->origin.level, 2);
    world_free(w);
}

TEST(bohb_begins_with_min_points_in_model)
{
    struct model_options options = published;
    struct world *w;

    options.random_fraction = 0;
    options.min_points = 10;
    w = world_new(LINE, &options);
    for (uint64_t n = 0; n < 30; n++) {
        ask(w, 1, 0);
        CHECK(w->origin.is_modelled == (n >= 12));
        CHECK(n < 12 ||
              (w->origin.n_good == 10 && w->origin.n_others == n - 10));
        learn(w, 1, n, 0);
    }
    world_free(w);
    options.min_points = 1; /* the least is parameters + 1 */
    w = world_new(LINE, &options);
    ask(w, 1, 0);
    CHECK_EQ(w->origin.needed, 4);
    world_free(w);
}

TEST(bohb_draws_a_third_from_the_prior)
{
    struct world *w = world_new(LINE, &published);
    int n = 0;

    for (uint64_t k = 0; k < 10; k++)
        learn(w, 0, k, (double)k);
    for (uint64_t id = 0; id < 600; id++) {
        ask(w, id, 0);
        CHECK(w->origin.is_modelled != w->origin.is_fraction);
        n += w->origin.is_fraction;
    }
    CHECK(n > 150 && n < 250);
    world_free(w);
}

/* Of every kind: where it may lie, around what was good, and another one when
 * it is asked again. */
TEST(bohb_takes_every_kind_of_parameter)
{
    struct model_options options = published;
    struct world *w;
    double before[X_MAX];
    size_t n_dims;
    int others = 0;

    options.random_fraction = 0;
    options.num_samples = 8;
    w = world_new(MIXED_SPACE, &options);
    n_dims = w->m->prior.n_dims;
    for (uint64_t n = 0; n < 60; n++)
        learn(w, 0, n, n % 7 == 0 ? NAN : (double)(n * 37 % 11));
    for (uint64_t id = 0; id < 300; id++) {
        ask(w, id, 0);
        CHECK(w->origin.is_modelled);
        memcpy(before, w->x, n_dims * sizeof *before);
        ask(w, id, 0);
        CHECK(memcmp(before, w->x, n_dims * sizeof *before) == 0);
        ask(w, id, 1);
        others += memcmp(before, w->x, n_dims * sizeof *before) != 0;
    }
    CHECK(others > 290);
    world_free(w);
}

/* All of a sum over values, or an integral over a range, with the other
 * dimensions left out. */
static double
total(struct kde *k, size_t j)
{
    const struct axis *a = &k->axes[j];
    size_t n = a->n > 0 ? (size_t)a->n : 4000;
    double low = a->kind == AXIS_NORMAL ? -6 : 0;
    double step = (1 - 2 * low) / (double)n, sum = 0;
    struct place at[X_MAX];

    for (size_t i = 0; i < k->n_dims; i++)
        at[i] = (struct place){NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++) {
        double v = low + ((double)i + 0.5) * step;

        if (a->kind == AXIS_CATEGORY)
            v = (double)i;
        else if (a->n > 0)
            v = tpe_axis_of_column(a, i);
        at[j] = tpe_axis_place(a, tpe_axis_value(a, v));
        sum += exp(kde_log_density(k, at)) *
               (a->n > 0 || a->kind == AXIS_CATEGORY ? 1 : step);
    }
    return sum;
}

TEST(bohb_densities_are_distributions)
{
    struct world *w = world_new(MIXED_SPACE, &published);
    size_t n_checked = 0;

    for (uint64_t n = 0; n < 40; n++)
        learn(w, 0, n, (double)n);
    for (uint64_t id = 0; !w->origin.is_modelled; id++)
        ask(w, id, 0);
    for (size_t j = 0; j < w->m->prior.n_dims; j++) {
        const struct axis *a = &w->m->axes[j];

        if (a->kind == AXIS_SINGLE || (a->kind == AXIS_NORMAL && a->q > 0))
            continue;
        CHECK(is_near(total(&w->m->good, j), 1, 1e-3));
        CHECK(is_near(total(&w->m->others, j), 1, 1e-3));
        n_checked++;
    }
    CHECK_EQ(n_checked, 14);
    world_free(w);
}

/* 1.06 sd n^(-1/5), of 0.25 and 0.75; of two categories as of 0 and 1. */
TEST(bohb_widths_are_the_normal_reference)
{
    struct space *space =
        help_space("{'u': {'_type': 'uniform', '_value': [0, 1]}}");
    struct space *choice =
        help_space("{'c': {'_type': 'choice', '_value': ['a', 'b', 'c']}}");
    struct axis u = tpe_axis_of(TP_DIM(space_dims(space), 0));
    struct axis c = tpe_axis_of(TP_DIM(space_dims(choice), 0));
    const double v[] = {0.25, 0.75, 0.25, 0.75}, i[] = {0, 2, 2, 2};
    const double *points[] = {&v[0], &v[1], &v[2], &v[3]};
    const double *indices[] = {&i[0], &i[1], &i[2], &i[3]};
    struct kde k;

    CHECK_EQ(kde_init(&k, &u, 1), 0);
    CHECK_EQ(kde_fit(&k, points, 4, 0.001), 0);
    CHECK(is_near(k.dims[0].width, 1.06 * 0.25 * pow(4, -0.2), 1e-12));
    CHECK_EQ(kde_fit(&k, points, 1, 0.001), 0);
    CHECK(k.dims[0].width == 1.0 / 3); /* the least, for one */
    kde_fini(&k);
    CHECK_EQ(kde_init(&k, &c, 1), 0);
    CHECK_EQ(kde_fit(&k, indices, 4, 0.001), 0);
    CHECK(
        is_near(k.dims[0].width, 1.06 * sqrt(3.0 / 16) * pow(4, -0.2), 1e-12));
    CHECK_EQ(kde_fit(&k, indices, 4, 5), 0);
    CHECK(k.dims[0].width == 2.0 / 3); /* all alike */
    kde_fini(&k);
    space_free(space);
    space_free(choice);
}

/* A failed trial is bad; a result that is told again takes its own place. */
TEST(bohb_learns_what_failed_and_what_is_told_again)
{
    struct model_options options = published;
    struct world *w;
    double good[1] = {0.5}, bad[1] = {-0.5}, out[2];
    const double *points[] = {good, bad};

    options.random_fraction = 0;
    w = world_new(LINE, &options);
    for (uint64_t n = 0; n < 10; n++) {
        double x = n < 4 ? 0.5 + 0.01 * (double)n : -0.5 - 0.01 * (double)n;

        CHECK_EQ(model_learn(w->m, 0, n, &x, n < 4 ? 1 : NAN, false), 0);
    }
    CHECK_EQ(model_score(w->m, points, 2, out), 0);
    CHECK(out[0] > out[1]);
    for (uint64_t n = 0; n < 10; n++) {
        double x = n < 4 ? 0.5 + 0.01 * (double)n : -0.5 - 0.01 * (double)n;

        CHECK_EQ(model_learn(w->m, 0, n, &x, n < 4 ? 9 : 3, true), 0);
    }
    CHECK_EQ(w->m->levels[0].n, 10);
    CHECK_EQ(model_score(w->m, points, 2, out), 0);
    CHECK(out[0] < out[1]);
    world_free(w);
}

#define BOWL                                             \
    "{'u': {'_type': 'uniform', '_value': [0, 1]},"      \
    " 'v': {'_type': 'loguniform', '_value': [1, 100]}," \
    " 'c': {'_type': 'choice', '_value': ['a', 'b', 'c', 'd']}}"

/* The best of 80 in a bowl, the mean of its logarithm over some seeds. */
static double
run(const struct model_options *options)
{
    double sum = 0;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct world *w = world_new(BOWL, options);
        double best = INFINITY;

        w->seed = seed;
        for (uint64_t id = 0; id < 80; id++) {
            double y;

            ask(w, id, 0);
            y = pow(w->x[0] - 0.3, 2) + pow(w->x[1] / log(100) - 0.6, 2) +
                0.3 * (w->x[2] != 2);
            best = y < best ? y : best;
            CHECK_EQ(model_learn(w->m, 0, id, w->x, y, false), 0);
        }
        sum += log10(best) / 8;
        world_free(w);
    }
    return sum;
}

TEST(bohb_finds_the_middle_of_a_bowl)
{
    struct model_options prior = published;
    double model, random;

    prior.random_fraction = 1;
    model = run(&published);
    random = run(&prior);
    printf("# model %.2f, prior %.2f\n", model, random);
    CHECK(model < random - 0.5);
}
