/* SPDX-License-Identifier: MIT */
/* The forest, and the search in it.  What saves, fails and ends every tuner
 * meets in tuner_property_test.c. */
#include "smac/smac.h"

#include "numerics/random.h"
#include "space/space.h"
#include "t.h"
#include "unit/space_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

/* ---- the forest ---- */

#define ROWS 60

static const struct forest_options trees = {
    .trees = 10, .min_split = 3, .columns = 1};

static double
mean_at(const struct forest *f, double a, double b, double *variance)
{
    const double row[] = {a, b};
    double mean;

    forest_predict(f, row, &mean, variance);
    return mean;
}

/* Two columns, a number from 0 to 1 and one of five categories. */
static void
fit(struct forest *f, double (*value)(double, double), uint64_t seed)
{
    static const bool is_category[] = {false, true};
    double x[2 * ROWS], y[ROWS];
    struct forest_data data = {.x = x, .y = y, .n_rows = ROWS};
    struct dice dice = {seed};

    for (size_t i = 0; i < ROWS; i++) {
        x[i] = (double)i / (ROWS - 1);
        x[ROWS + i] = (double)(i * 7 % 5);
        y[i] = value(x[i], x[ROWS + i]);
    }
    CHECK_EQ(forest_init(f, &trees, is_category, 2), 0);
    CHECK_EQ(forest_fit(f, &data, &dice), 0);
}

static double
step(double number, double code)
{
    (void)code;
    return number < 0.5 ? -1 : 3;
}

static double
odd_codes(double number, double code)
{
    (void)number;
    return code == 1 || code == 3 ? 5 : 2;
}

static double
line(double number, double code)
{
    (void)code;
    return number;
}

TEST(smac_forest_finds_a_step)
{
    struct forest f;
    double variance;

    fit(&f, step, 1);
    CHECK(mean_at(&f, 0.1, 0, &variance) == -1);
    CHECK(variance == 0);
    CHECK(mean_at(&f, 0.9, 4, &variance) == 3);
    CHECK(variance == 0);
    forest_fini(&f);
}

TEST(smac_forest_parts_categories_whatever_their_order)
{
    struct forest f;
    double variance;

    fit(&f, odd_codes, 1);
    for (int code = 0; code < 5; code++)
        CHECK(mean_at(&f, 0.3, code, &variance) == odd_codes(0, code));
    /* A code that was never seen is put on either side, by each tree. */
    CHECK(mean_at(&f, 0.3, 63, &variance) > 2 && variance > 0);
    forest_fini(&f);
}

/* Trees cut between the same two rows at different places. */
TEST(smac_forest_slopes_and_is_less_sure_between_rows)
{
    struct forest f;
    double variance, last = -1;
    size_t n_values = 0;

    fit(&f, line, 1);
    for (int i = 0; i <= 1000; i++) {
        double mean = mean_at(&f, i / 1000.0, 0, &variance);

        CHECK(mean >= last && variance >= 0);
        CHECK(fabs(mean - i / 1000.0) < 0.1);
        n_values += mean > last;
        last = mean;
    }
    CHECK(n_values > ROWS);
    forest_fini(&f);
}

TEST(smac_forest_is_the_same_for_the_same_dice)
{
    struct forest a, b, c;
    double variance;
    bool differs = false;

    fit(&a, line, 1);
    fit(&b, line, 1);
    fit(&c, line, 2);
    for (int i = 0; i < 100; i++) {
        double mean = mean_at(&a, i / 100.0, 0, &variance);

        CHECK(mean == mean_at(&b, i / 100.0, 0, &variance));
        differs = differs || mean != mean_at(&c, i / 100.0, 0, &variance);
    }
    CHECK(differs);
    forest_fini(&a);
    forest_fini(&b);
    forest_fini(&c);
}

/* ---- the tuner ---- */

#define BOX                                          \
    "{'a': {'_type': 'uniform', '_value': [-5, 5]}," \
    " 'b': {'_type': 'uniform', '_value': [-5, 5]}}"
#define UNIT "{'a': {'_type': 'uniform', '_value': [0, 1]}}"
#define SMALL                                         \
    "{'a': {'_type': 'randint', '_value': [0, 4]},"   \
    " 'b': {'_type': 'choice', '_value': [1, 2, 3]}," \
    " 'c': {'_type': 'choice', '_value': ['one']}}"
#define NESTED                                                   \
    "{'kind': {'_type': 'choice', '_value': ["                   \
    "   {'_name': 'flat'},"                                      \
    "   {'_name': 'bowl',"                                       \
    "    'x': {'_type': 'uniform', '_value': [-5, 5]},"          \
    "    'n': {'_type': 'qloguniform', '_value': [1, 100, 1]}}," \
    "   {'_name': 'bad', 'y': {'_type': 'normal', '_value': [0, 1]}}]}}"

static uint64_t
help_bits(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    const uint64_t *seed = ctx;
    struct random_stream s = random_stream(*seed, RANDOM_TEST, a, b);

    return random_bits(&s, draw);
}

static struct smac_options
help_options(void)
{
    return (struct smac_options){.startup = 5,
                                 .candidates = 200,
                                 .most = 1000,
                                 .random = 0.1,
                                 .forest = trees};
}

static struct smac *
help_smac(const struct smac_options *options, const struct space *space)
{
    const struct tp_space *s = space_dims(space);
    struct axis axes[X_MAX];
    struct smac *made;

    CHECK(s->n_dims <= X_MAX);
    for (size_t i = 0; i < s->n_dims; i++)
        axes[i] = tpe_axis_of(TP_DIM(s, i));
    made = smac_new(options, axes, s->n_dims);
    CHECK(made != NULL);
    return made;
}

static enum smac_how
help_ask(struct smac *s, const struct space *space, uint64_t seed, uint64_t id,
         double *x)
{
    struct smac_reason why;

    CHECK_EQ(smac_ask(s, help_bits, &seed, id, x, &why), 0);
    CHECK_EQ(space_check(space, x, NULL), 0);
    CHECK_EQ(smac_open(s, id, x), 0);
    return why.how;
}

static double
bowl(const double *x)
{
    return (x[0] - 1) * (x[0] - 1) + (x[1] - 1) * (x[1] - 1);
}

static double
best_of(const struct smac_options *options, uint64_t seed)
{
    struct space *space = help_space(BOX);
    struct smac *s = help_smac(options, space);
    double best = INFINITY, x[X_MAX];

    for (uint64_t id = 0; id < 60; id++) {
        double value;

        help_ask(s, space, seed, id, x);
        value = bowl(x);
        CHECK_EQ(
            smac_tell(s, id, x, false, options->maximize ? -value : value, 0),
            0);
        best = value < best ? value : best;
    }
    smac_free(s);
    space_free(space);
    return best;
}

TEST(smac_finds_the_middle_of_a_bowl)
{
    struct smac_options options = help_options(), prior = options;
    double model = 0, random = 0;

    prior.random = 1;
    for (uint64_t seed = 0; seed < 5; seed++) {
        model += best_of(&options, seed) / 5;
        random += best_of(&prior, seed) / 5;
    }
    printf("# %g by the forest, %g without\n", model, random);
    CHECK(model < random / 5);
}

TEST(smac_maximises_as_it_minimises)
{
    struct smac_options low = help_options(), high = low;

    high.maximize = true;
    CHECK(best_of(&low, 3) == best_of(&high, 3));
}

/* All twelve points, each once; then there is nothing new, and no failure. */
TEST(smac_gives_nothing_twice_while_there_is_something_else)
{
    struct space *space = help_space(SMALL);
    struct smac_options options = help_options();
    struct smac *s;
    bool seen[4][3] = {{false}};
    double x[X_MAX];

    options.random = 0;
    options.startup = 1;
    s = help_smac(&options, space);
    for (uint64_t id = 0; id < 15; id++) {
        help_ask(s, space, 1, id, x);
        CHECK(id >= 12 || !seen[(size_t)x[0]][(size_t)x[1]]);
        seen[(size_t)x[0]][(size_t)x[1]] = true;
        CHECK_EQ(smac_tell(s, id, x, false, x[0] + x[1], 0), 0);
    }
    smac_free(s);
    space_free(space);
}

/* Twenty trials at a time are not twenty times the same one. */
TEST(smac_keeps_away_from_what_is_running)
{
    struct space *space = help_space(UNIT);
    struct smac_options options = help_options();
    struct smac *s = help_smac(&options, space);
    double x[X_MAX], at[20], gap = INFINITY;

    for (uint64_t id = 0; id < 30; id++) {
        help_ask(s, space, 1, id, x);
        CHECK_EQ(smac_tell(s, id, x, false, (x[0] - 0.3) * (x[0] - 0.3), 0), 0);
    }
    for (uint64_t i = 0; i < 20; i++) {
        help_ask(s, space, 1, 100 + i, x);
        at[i] = x[0];
        for (uint64_t k = 0; k < i; k++)
            gap = fmin(gap, fabs(at[i] - at[k]));
    }
    CHECK(gap > 0);
    smac_free(s);
    space_free(space);
}

/* Failures are as bad as the worst result. */
TEST(smac_leaves_where_trials_fail)
{
    struct space *space = help_space(UNIT);
    struct smac_options options = help_options();
    struct smac *s = help_smac(&options, space);
    double x[X_MAX];
    size_t failed = 0;

    for (uint64_t id = 0; id < 60; id++) {
        help_ask(s, space, 2, id, x);
        if (x[0] > 0.2)
            tpe_points_ended(&s->points, id, true);
        else
            CHECK_EQ(smac_tell(s, id, x, false, 1 - x[0], 0), 0);
        failed += id >= 40 && x[0] > 0.2;
    }
    CHECK(failed < 10);
    smac_free(s);
    space_free(space);
}

/* What a stopped trial had is not better than what half of the others ended
 * with; of stopped ones alone those are good that got far. */
TEST(smac_learns_of_stopped_trials)
{
    struct space *space = help_space(UNIT);
    struct smac_options options = help_options();
    struct smac *s = help_smac(&options, space);
    double x[X_MAX], near = 0.9, far = 0.1, score[2];
    const double *both[] = {&near, &far};

    for (uint64_t id = 0; id < 30; id++) {
        help_ask(s, space, 3, id, x);
        CHECK_EQ(smac_tell(s, id, x, true, -1.0 * (double)id,
                           (uint64_t)(100 * x[0])),
                 0);
    }
    CHECK_EQ(smac_score(s, both, 2, score), 0);
    CHECK(score[0] > score[1]);
    for (uint64_t id = 30; id < 60; id++) {
        x[0] = (double)(id - 30) / 30;
        CHECK_EQ(smac_tell(s, id, x, false, x[0], 0), 0);
    }
    CHECK_EQ(smac_score(s, both, 2, score), 0);
    CHECK(score[0] < score[1]);
    smac_free(s);
    space_free(space);
}

TEST(smac_finds_the_branch_and_what_is_best_in_it)
{
    struct space *space = help_space(NESTED);
    struct smac_options options = help_options();
    struct smac *s = help_smac(&options, space);
    double x[X_MAX], best = INFINITY;
    size_t bowls = 0;

    for (uint64_t id = 0; id < 80; id++) {
        double value = x[0];

        help_ask(s, space, 4, id, x);
        value = x[0] == 0 ? 5 : x[0] == 2 ? 9 : fabs(x[1] - 2) + fabs(x[2] - 3);
        CHECK_EQ(smac_tell(s, id, x, false, value, 0), 0);
        best = value < best ? value : best;
        bowls += id >= 40 && x[0] == 1;
    }
    CHECK(bowls > 30);
    CHECK(best < 0.5);
    smac_free(s);
    space_free(space);
}

/* Results that lie as far apart as doubles can, equal ones, and hardly
 * different ones. */
TEST(smac_bears_any_results)
{
    static const double sets[][3] = {{-1.7e308, 1.7e308, 0},
                                     {0, 5e-324, 1e300},
                                     {5e-324, 1e-323, 0},
                                     {1, 1, 1},
                                     {1e300, 1e300 * (1 + 0x1p-52), 1e300},
                                     {NAN, INFINITY, 1}};
    struct space *space = help_space(UNIT);
    struct smac_options options = help_options();
    double x[X_MAX], score;
    const double *point = x;

    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct smac *s = help_smac(&options, space);

        for (uint64_t id = 0; id < 30; id++) {
            help_ask(s, space, 5, id, x);
            CHECK_EQ(smac_tell(s, id, x, false, sets[k][id % 3], 0), 0);
            CHECK_EQ(smac_score(s, &point, 1, &score), 0);
            CHECK(id < 20 || isfinite(score));
        }
        smac_free(s);
    }
    space_free(space);
}

/* More points than the forest takes, more elements than it tells apart, and
 * asked again. */
TEST(smac_goes_on_with_many_points_and_elements)
{
    struct buf text;
    struct space *space;
    struct smac_options options = help_options();
    struct smac *s;
    double x[X_MAX], again[X_MAX];
    size_t good = 0;

    buf_init(&text, 4096);
    buf_printf(&text, "{'c': {'_type': 'choice', '_value': [0");
    for (int i = 1; i < 200; i++)
        buf_printf(&text, ", %d", i);
    buf_printf(&text, "]}, 'u': {'_type': 'uniform', '_value': [0, 1]}}");
    space = help_space(buf_text(&text));
    buf_fini(&text);
    options.most = 40;
    s = help_smac(&options, space);
    for (uint64_t id = 0; id < 120; id++) {
        help_ask(s, space, 6, id, x);
        CHECK_EQ(smac_tell(s, id, x, false, fabs(x[0] - 150) + 100 * x[1], 0),
                 0);
        good += id >= 80 && x[1] < 0.3;
    }
    CHECK(good > 20);
    help_ask(s, space, 6, 1000, x);
    help_ask(s, space, 6, 1000, again);
    CHECK(x[0] != again[0] || x[1] != again[1]);
    smac_free(s);
    space_free(space);
}

/* Suggestions of sixty trials, with whatever compiler.  Who means to change
 * them raises the plugin's version. */
TEST(smac_suggests_the_same_bits_everywhere)
{
    static const char *const texts[] = {BOX, NESTED};
    static const uint64_t golden[] = {0x9fccac7388e30c4au, 0xdb978105612e108fu};
    struct smac_options options = help_options();
    double x[X_MAX];

    for (size_t k = 0; k < 2; k++) {
        struct space *space = help_space(texts[k]);
        struct smac *s = help_smac(&options, space);
        uint64_t hash = 14695981039346656037u, bits;

        for (uint64_t id = 0; id < 60; id++) {
            double value = 0;

            help_ask(s, space, 7, id, x);
            for (size_t d = 0; d < s->n_dims; d++) {
                if (isnan(x[d]))
                    continue;
                memcpy(&bits, &x[d], sizeof bits);
                hash = (hash ^ bits) * 1099511628211u;
                value += (x[d] - 0.3) * (x[d] - 0.3);
            }
            CHECK_EQ(smac_tell(s, id, x, false, value, 0), 0);
        }
        CHECK_EQ(hash, golden[k]);
        smac_free(s);
        space_free(space);
    }
}
