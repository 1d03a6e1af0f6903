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

/* What a tuner of that name asks for, with 30 results. */
static void
play(const char *name, const char *text, uint64_t planned, double *points)
{
    struct plugin_paths *paths = plugin_paths_new(t_build("plugins"), NULL);
    struct space *space = help_space(SPACE);
    struct objectives *of = NULL;
    struct err err = {0};
    struct tuner *t;

    t = tuner_new(paths, name, (struct jval){NULL}, 4, NULL, &err);
    CHECK(t != NULL);
    if (text != NULL) {
        of = objectives_read(text, &err);
        CHECK(of != NULL);
        CHECK_EQ(tuner_objectives(t, of, NULL, &err), 0);
    }
    CHECK_EQ(tuner_space(t, space, &err), 0);
    if (planned > 0)
        CHECK_EQ(tuner_plan(t, planned, &err), 0);
    for (uint64_t id = 0; id < 30; id++) {
        double *x = points + 3 * id, values[2];
        struct tp_result result = {.how = TP_RESULT_FINAL};
        char *label = NULL;

        CHECK_EQ(tuner_ask(t, id, x, &label, &err), TP_OK);
        free(label);
        values[0] = x[0] * x[0] + x[1];
        values[1] = -(x[0] - 2) * (x[0] - 2) - x[2] / 50;
        result.value = values[0];
        if (text != NULL) {
            result.values = values;
            result.n_values = strcmp(text, TWO) == 0 ? 2 : 1;
            result.violation = strcmp(text, ONE_LIMITED) == 0 && x[0] > 2;
        }
        CHECK_EQ(tuner_tell(t, id, x, &result, &err), 0);
        CHECK_EQ(tuner_ended(t, id, x, TP_ENDED_SUCCEEDED, &err), 0);
    }
    tuner_free(t);
    objectives_free(of);
    space_free(space);
    plugin_paths_free(paths);
}

static bool
are_same(const char *name, const char *text, uint64_t planned,
         const char *other, const char *other_text)
{
    double a[90], b[90];

    play(name, text, planned, a);
    play(other, other_text, 0, b);
    return memcmp(a, b, sizeof a) == 0;
}

TEST(auto_leaves_several_objectives_to_gp)
{
    CHECK(are_same("auto", TWO, 0, "gp", TWO));
    CHECK(are_same("auto", ONE_LIMITED, 0, "gp", ONE_LIMITED));
    CHECK(!are_same("auto", TWO, 0, "tpe", TWO));
}

TEST(auto_leaves_several_objectives_of_many_trials_to_nsga2)
{
    CHECK(are_same("auto", TWO, 5000, "nsga2", TWO));
}

/* As advisors plan. */
TEST(auto_leaves_several_objectives_of_stopped_trials_to_tpe)
{
    CHECK(are_same("auto", TWO, UINT64_MAX, "tpe", TWO));
}

TEST(auto_gp_and_tpe_take_one_objective_without_limits_as_one_value)
{
    CHECK(are_same("auto", ONE, 0, "auto", NULL));
    CHECK(are_same("gp", ONE, 0, "gp", NULL));
    CHECK(are_same("tpe", ONE, 0, "tpe", NULL));
    CHECK(!are_same("tpe", TWO, 0, "tpe", NULL));
}
