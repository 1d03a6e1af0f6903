/* SPDX-License-Identifier: MIT */
/* Whom `auto` leaves several objectives to. */
#include "plugin/tuner.h"

#include "core/err.h"
#include "objectives/objectives.h"
#include "plugin/paths.h"
#include "t.h"
#include "unit/space_help.h"

#include <string.h>

NOT_UNDER_TSAN;

#define SPACE                                          \
    "{'a': {'_type': 'uniform', '_value': [-5, 5]},"   \
    " 'c': {'_type': 'choice', '_value': ['p', 'q']}," \
    " 'i': {'_type': 'randint', '_value': [0, 100]}}"
#define TWO                                               \
    "{\"objectives\": [{\"name\": \"a\", \"direction\": " \
    "\"minimize\"}, {\"name\": \"b\", \"direction\": "    \
    "\"maximize\"}]}"
#define ONE "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\"}]}"
#define ONE_LIMITED                                                       \
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\"}], " \
    "\"resultConstraints\": [\"a <= 3\"]}"

struct game {
    const char *name; /* the tuner's */
    const char *text; /* objectives; NULL: one value */
    uint64_t planned; /* 0: nothing is */
    /* Not NULL: of two trials it is asked for the one of this number, and told
     * that the other one was here. */
    const double *others;
    uint64_t turn;
};

static void
tell(struct tuner *t, const char *text, uint64_t id, const double *x)
{
    double values[2];
    struct tp_result result = {.how = TP_RESULT_FINAL};
    struct err err = {0};

    values[0] = x[0] * x[0] + x[1];
    values[1] = -(x[0] - 2) * (x[0] - 2) - x[2] / 50;
    result.value = values[0];
    if (text != NULL) {
        result.values = values;
        result.n_values = strcmp(text, TWO) == 0 ? 2 : 1;
        result.violation = strcmp(text, ONE_LIMITED) == 0 && x[0] > 2;
    }
    if (id == TP_NO_ID)
        result.how = TP_RESULT_IMPORTED;
    CHECK_EQ(tuner_tell(t, id, x, &result, &err), 0);
    if (id != TP_NO_ID)
        CHECK_EQ(tuner_ended(t, id, x, TP_ENDED_SUCCEEDED, &err), 0);
}

/* What is asked for, with 30 results. */
static void
play(struct game game, double *points)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct space *space = help_space(SPACE);
    struct objectives *of = NULL;
    struct err err = {0};
    struct tuner *t;

    t = tuner_new(paths, game.name, (struct jval){NULL}, 4, NULL, &err);
    CHECK(t != NULL);
    if (game.text != NULL) {
        of = objectives_read(game.text, &err);
        CHECK(of != NULL);
        CHECK_EQ(tuner_objectives(t, of, NULL, &err), 0);
    }
    CHECK_EQ(tuner_space(t, space, &err), 0);
    if (game.planned > 0)
        CHECK_EQ(tuner_plan(t, game.planned, &err), 0);
    for (uint64_t id = 0; id < 30; id++) {
        double *x = points + 3 * id;
        char *label = NULL;

        if (game.others != NULL && id % 2 != game.turn) {
            memcpy(x, game.others + 3 * id, 3 * sizeof *x);
            tell(t, game.text, TP_NO_ID, x);
            continue;
        }
        CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
        free(label);
        tell(t, game.text, id, x);
    }
    tuner_free(t);
    objectives_free(of);
    space_free(space);
    plugin_paths_free(paths);
}

static bool
are_same(struct game game, struct game other)
{
    double a[90], b[90];

    play(game, a);
    play(other, b);
    return memcmp(a, b, sizeof a) == 0;
}

/* Of auto's trials gp has the even ones, parego the odd ones: each would, alone
 * and told of the rest, ask for the same. */
TEST(auto_has_gp_and_parego_take_turns_with_several_objectives)
{
    static const char *const names[] = {"gp", "parego"};
    double points[90], alone[90];

    play((struct game){"auto", TWO, 0, NULL, 0}, points);
    for (uint64_t turn = 0; turn < 2; turn++) {
        play((struct game){names[turn], TWO, 0, points, turn}, alone);
        CHECK(memcmp(points, alone, sizeof points) == 0);
        play((struct game){names[!turn], TWO, 0, points, turn}, alone);
        CHECK(memcmp(points, alone, sizeof points) != 0);
    }
}

TEST(auto_leaves_one_objective_with_limits_to_gp)
{
    CHECK(are_same((struct game){"auto", ONE_LIMITED, 0, NULL, 0},
                   (struct game){"gp", ONE_LIMITED, 0, NULL, 0}));
}

TEST(auto_leaves_several_objectives_of_many_trials_to_nsga2)
{
    CHECK(are_same((struct game){"auto", TWO, 5000, NULL, 0},
                   (struct game){"nsga2", TWO, 0, NULL, 0}));
}

/* As advisors plan. */
TEST(auto_leaves_several_objectives_of_stopped_trials_to_tpe)
{
    CHECK(are_same((struct game){"auto", TWO, UINT64_MAX, NULL, 0},
                   (struct game){"tpe", TWO, 0, NULL, 0}));
}

TEST(auto_gp_and_tpe_take_one_objective_without_limits_as_one_value)
{
    CHECK(are_same((struct game){"auto", ONE, 0, NULL, 0},
                   (struct game){"auto", NULL, 0, NULL, 0}));
    CHECK(are_same((struct game){"gp", ONE, 0, NULL, 0},
                   (struct game){"gp", NULL, 0, NULL, 0}));
    CHECK(are_same((struct game){"tpe", ONE, 0, NULL, 0},
                   (struct game){"tpe", NULL, 0, NULL, 0}));
    CHECK(!are_same((struct game){"tpe", TWO, 0, NULL, 0},
                    (struct game){"tpe", NULL, 0, NULL, 0}));
}
