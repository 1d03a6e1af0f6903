/* SPDX-License-Identifier: MIT */
/* Advisors in simulated experiments: tests/sim/game.h.  A few hundred here;
 * `make soak-advisors` plays 10,000 of each kind. */
#include "check/fakehost.h"
#include "plugin/loader.h"
#include "sim/bands.h"
#include "sim/dice.h"
#include "sim/game.h"
#include "unit/space_help.h"

#include <inttypes.h>

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
