/* SPDX-License-Identifier: MIT */
/* Advisors in simulated experiments: tests/sim/game.h.  A few hundred here;
 * `make soak-advisors` plays 10,000 of each kind. */
#include "check/fakehost.h"
#include "plugin/loader.h"
#include "sim/bands.h"
#include "sim/game.h"
#include "sim/population.h"
#include "sim/rungs.h"
#include "unit/space_help.h"

#include <inttypes.h>

NOT_UNDER_TSAN;

#define SPACE                                                \
    "{'lr': {'_type': 'loguniform', '_value': [1e-4, 0.1]}," \
    " 'n': {'_type': 'quniform', '_value': [1, 9, 2]},"      \
    " 'k': {'_type': 'randint', '_value': [2, 7]},"          \
    " 'c': {'_type': 'choice', '_value': ['a', 'b', 'c']},"  \
    " 'z': {'_type': 'normal', '_value': [0, 2]}}"
#define OTHER                                              \
    "{'lr': {'_type': 'loguniform', '_value': [1e-3, 1]}," \
    " 'n': {'_type': 'quniform', '_value': [3, 11, 2]},"   \
    " 'k': {'_type': 'randint', '_value': [0, 5]},"        \
    " 'c': {'_type': 'choice', '_value': ['a', 'c']},"     \
    " 'z': {'_type': 'normal', '_value': [1, 1]}}"

enum { FEW = 40 };

/* How many of each kind, and the first seed. */
static uint64_t
how_many(void)
{
    const char *most = getenv("SIM_EXPERIMENTS");

    if (most != NULL)
        return strtoull(most, NULL, 10);
    return getenv("TP_LONG") != NULL ? 10000 : FEW;
}

static uint64_t
first_seed(void)
{
    const char *seed = getenv("SIM_SEED");

    return seed == NULL || *seed == '\0' ? 1 : strtoull(seed, NULL, 10);
}

static void
prepare(struct game_setup *setup, const char *file)
{
    struct err err = {0};

    setup->plugin = plugin_load_file(t_build(file), PLUGIN_TUNER, &err);
    CHECK_STR(err.text, "");
    setup->spaces[0] = help_space(SPACE);
    setup->spaces[1] = help_space(OTHER);
}

static void
add(struct game_counts *to, const struct game_counts *c)
{
    to->trials += c->trials;
    to->promoted += c->promoted;
    to->cloned += c->cloned;
    to->paused += c->paused;
    to->finished += c->finished;
    to->stopped += c->stopped;
    to->failed += c->failed;
    to->metrics += c->metrics;
    to->waits += c->waits;
    to->reloads += c->reloads;
    to->updates += c->updates;
}

/* All of a kind.  What is shown of a failure is enough to play it again:
 * SIM_SEED, SIM_EXPERIMENTS=1. */
static struct game_counts
play_all(struct game_setup *setup, uint64_t n)
{
    struct game_counts sum = {0}, counts;
    struct err err = {0};

    for (uint64_t i = 0; i < n; i++) {
        setup->seed = first_seed() + i;
        if (game_play(setup, &counts, &err) != 0)
            printf("# %s, %s, experiment %" PRIu64 ": %s\n", setup->rules->name,
                   setup->args, setup->seed, err.text);
        CHECK_STR(err.text, "");
        add(&sum, &counts);
    }
    printf("# %s, %s: %" PRIu64 " experiments, %zu trials, %zu promoted, "
           "%zu cloned, %zu paused, %zu finished, %zu stopped, %zu failed, "
           "%zu metrics, %zu waits, %zu loads, %zu spaces\n",
           setup->rules->name, setup->args, n, sum.trials, sum.promoted,
           sum.cloned, sum.paused, sum.finished, sum.stopped, sum.failed,
           sum.metrics, sum.waits, sum.reloads, sum.updates);
    return sum;
}

static void
done(struct game_setup *setup)
{
    plugin_unload((struct plugin *)(uintptr_t)setup->plugin);
    space_free((struct space *)(uintptr_t)setup->spaces[0]);
    space_free((struct space *)(uintptr_t)setup->spaces[1]);
}

static const struct bands nine = {1, 9, 3};

TEST(simulated_experiments_find_nothing_wrong_with_what_is_right)
{
    struct game_setup setup = {.args = "{}",
                               .longest = 12,
                               .rules = &rules_brackets,
                               .rules_arg = &nine};
    struct game_counts sum;

    prepare(&setup, "tests/plugins/halving.so");
    sum = play_all(&setup, how_many());
    CHECK(sum.promoted > 0 && sum.paused > 0 && sum.finished > 0);
    CHECK(sum.failed > 0 && sum.waits > 0 && sum.reloads > 0);
    CHECK(sum.updates > 0);
    done(&setup);
}

/* What each fault of tests/plugins/halving.c is called when it is found. */
TEST(simulated_experiments_find_what_is_wrong)
{
    static const struct rules common = {.name = "common", .endless = true};
    static const struct {
        const char *args, *says;
        const struct rules *rules;
    } faults[] = {
        {"{\"fault\": \"stalls\"}", "it stalls: ", &common},
        {"{\"fault\": \"other_point\"}", "which has another point", &common},
        {"{\"fault\": \"past_budget\"}", "goes on behind its budget", &common},
        {"{\"fault\": \"same_label\"}", "stands twice", &common},
        {"{\"fault\": \"again\"}", "another one goes on already", &common},
        {"{\"fault\": \"released\"}", "which it had released", &common},
        {"{\"fault\": \"worst\"}", "goes on from a trial with",
         &rules_brackets},
        {"{\"fault\": \"forgets\"}", "otherwise after load", &common},
        {"{\"fault\": \"ends\"}", "nothing more to suggest", &common},
        {"{\"fault\": \"odd_budget\"}", "which had as much budget", &common},
        {"{\"fault\": \"unknown\"}", "which there is not", &common},
        {"{\"fault\": \"itself\"}", "which the call is about", &common},
    };
    struct game_setup setup = {.longest = 12, .rules_arg = &nine};

    prepare(&setup, "tests/plugins/halving.so");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct game_counts counts;
        struct err err = {0};

        setup.args = faults[i].args;
        setup.rules = faults[i].rules;
        for (setup.seed = 1; setup.seed < 200 && err.text[0] == '\0';)
            if (game_play(&setup, &counts, &err) == 0)
                setup.seed++;
        CHECK_HAS(err.text, faults[i].says);
    }
    done(&setup);
}

/* The tables that NNI's brackets are known by: R 81 and R 9, eta 2. */
TEST(simulated_brackets_are_as_they_are_printed)
{
    static const uint64_t of_81[5][5][2] = {
        {{5, 81}},
        {{8, 27}, {2, 81}},
        {{15, 9}, {5, 27}, {1, 81}},
        {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
        {{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
    };
    const struct bands halves = {1, 9, 2}, eighty_one = {1, 81, 3};
    uint64_t n, r;

    CHECK_EQ(bands_widest(&eighty_one), 4);
    for (unsigned s = 0; s < 5; s++)
        for (unsigned k = 0; k <= s; k++) {
            bands_round(&eighty_one, s, k, &n, &r);
            CHECK_EQ(n, of_81[s][k][0]);
            CHECK_EQ(r, of_81[s][k][1]);
        }
    CHECK_EQ(bands_widest(&halves), 3);
    bands_round(&halves, 3, 2, &n, &r);
    CHECK(n == 2 && r == 4);
    bands_round(&halves, 2, 1, &n, &r);
    CHECK(n == 3 && r == 4);
}

/* A kind of advisor: what it is given, and what it promises for that. */
struct kind {
    const char *args;
    const struct rules *rules;
    const void *arg; /* of the rules */
    uint64_t longest;
    bool minimize;
};

static void
play_kinds(const char *file, const struct kind *kinds, size_t n)
{
    struct game_counts sum = {0}, counts;
    struct game_setup setup = {0};

    prepare(&setup, file);
    for (size_t i = 0; i < n; i++) {
        setup.args = kinds[i].args;
        setup.rules = kinds[i].rules;
        setup.rules_arg = kinds[i].arg;
        setup.longest = kinds[i].longest;
        setup.maximize = !kinds[i].minimize;
        counts = play_all(&setup, how_many() / n + 1);
        add(&sum, &counts);
    }
    CHECK(sum.trials > 0 && sum.metrics > 0 && sum.failed > 0);
    CHECK(sum.reloads > 0);
    done(&setup);
}

static const struct bands of_27 = {1, 27, 3}, of_16 = {1, 16, 4},
                          three_to_81 = {3, 81, 3};

TEST(simulated_hyperband)
{
    static const struct kind kinds[] = {
        {"{\"R\": 27}", &rules_hyperband_parallel, &of_27, 30, false},
        {"{\"R\": 16, \"eta\": 4, \"optimize_mode\": \"minimize\"}",
         &rules_hyperband_parallel, &of_16, 16, true},
        {"{\"R\": 9, \"exec_mode\": \"serial\"}", &rules_hyperband_serial,
         &nine, 12, false},
    };

    play_kinds("plugins/hyperband.so", kinds, sizeof kinds / sizeof *kinds);
}

static const struct rules rules_any = {
    .name = "bohb, parallel", .never_waits = true, .endless = true};

TEST(simulated_bohb)
{
    static const struct kind kinds[] = {
        {"{\"max_budget\": 9}", &rules_bohb, &nine, 9, false},
        {"{\"min_budget\": 3, \"max_budget\": 81, "
         "\"optimize_mode\": \"minimize\"}",
         &rules_bohb, &three_to_81, 90, true},
        {"{\"max_budget\": 27, \"exec_mode\": \"parallelism\"}", &rules_any,
         NULL, 27, false},
    };

    play_kinds("plugins/bohb.so", kinds, sizeof kinds / sizeof *kinds);
}

static const struct rungs to_27 = {1, 27, 3}, to_50 = {2, 50, 2};

TEST(simulated_asha)
{
    static const struct kind kinds[] = {
        {"{}", &rules_asha_stopping, &to_27, 27, false},
        {"{\"min_budget\": 2, \"max_budget\": 50, \"eta\": 2, "
         "\"optimize_mode\": \"minimize\"}",
         &rules_asha_stopping, &to_50, 60, true},
        {"{\"type\": \"promotion\"}", &rules_asha_promotion, &to_27, 27, false},
        {"{\"min_budget\": 2, \"max_budget\": 50, \"eta\": 2, "
         "\"optimize_mode\": \"minimize\", \"type\": \"promotion\"}",
         &rules_asha_promotion, &to_50, 60, true},
        {"{\"brackets\": 3}", &rules_asha, NULL, 27, false},
        {"{\"brackets\": 2, \"type\": \"promotion\", "
         "\"configurations\": 30}",
         &rules_asha_configurations, NULL, 27, false},
    };

    play_kinds("plugins/asha.so", kinds, sizeof kinds / sizeof *kinds);
}

static const struct population ten = {10}, four = {4};

TEST(simulated_pbt)
{
    static const struct kind kinds[] = {
        {"{\"all_checkpoint_dir\": \"/ck\"}", &rules_pbt_rounds, &ten, 6,
         false},
        {"{\"all_checkpoint_dir\": \"/ck\", \"population_size\": 4, "
         "\"interval\": 3, \"optimize_mode\": \"minimize\"}",
         &rules_pbt_rounds, &four, 100, true},
        {"{\"all_checkpoint_dir\": \"/ck\", \"mode\": \"async\", "
         "\"interval\": 3, \"max_budget\": 21}",
         &rules_pbt_async, &ten, 30, false},
        {"{\"all_checkpoint_dir\": \"/ck\", \"mode\": \"async\", "
         "\"population_size\": 4, \"interval\": 2, \"fraction\": 0.5, "
         "\"optimize_mode\": \"minimize\"}",
         &rules_pbt_async, &four, 60, true},
    };

    play_kinds("plugins/pbt.so", kinds, sizeof kinds / sizeof *kinds);
}
