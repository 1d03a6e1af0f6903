/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "manager/goals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)

static void
end(struct goals *f, const char *trial, double value)
{
    struct goals_trial e = {.trial = trial,
                            .counts = true,
                            .has_value = true,
                            .value = value,
                            .seconds = 1};

    goals_trial_ended(f, &e);
}

static bool
is_over(const struct goals *f, int64_t now_ns)
{
    char why[200] = "";
    bool over = goals_reached(f, now_ns, why, sizeof why);

    CHECK_EQ(over, goals_named(why));
    CHECK_EQ(over, strncmp(why, "finished: ", 10) == 0);
    return over;
}

TEST(manager_finish_at_the_first_value_that_is_good_enough)
{
    struct goals up = {.has_stop_value = true, .stop_value = 0.5};
    struct goals down = {
        .has_stop_value = true, .stop_value = 0.5, .minimize = true};
    char why[200];

    end(&up, "00000", 0.4);
    end(&down, "00000", 0.6);
    end(&up, "00001", NAN);
    end(&down, "00001", NAN);
    end(&up, "00001", HUGE_VAL); /* no result, as for a next manager */
    end(&down, "00001", -HUGE_VAL);
    CHECK(!is_over(&up, 0) && !is_over(&down, 0));
    end(&up, "00002", 0.5); /* as good is enough */
    end(&down, "00002", 0.5);
    CHECK(is_over(&up, 0) && is_over(&down, 0));
    end(&up, "00003", 0.9);
    CHECK(goals_reached(&up, 0, why, sizeof why));
    CHECK_STR(why, "finished: trial 00002 has 0.5, stopValue is 0.5");
}

TEST(manager_finish_counts_what_was_no_better)
{
    struct goals f = {.max_without = 2, .minimize = true};
    struct goals_trial failed = {.trial = "x", .seconds = 1};
    struct goals_trial stopped = {.trial = "x", .counts = true, .seconds = 1};

    end(&f, "00000", 3);
    end(&f, "00001", 3); /* no better */
    end(&f, "00002", 2);
    for (int i = 0; i < 5; i++)
        goals_trial_ended(&f, &failed); /* it says nothing */
    end(&f, "00003", 2.5);
    CHECK(!is_over(&f, 0));
    goals_trial_ended(&f, &stopped);
    CHECK(is_over(&f, 0));
}

TEST(manager_finish_sums_up_the_time_of_trials)
{
    struct goals f = {.max_hours = 10 / 3600.0};
    int64_t t0 = INT64_MAX / 2; /* the sum of beginnings is beyond 2^64 */

    CHECK_EQ(goals_deadline(&f, t0), INT64_MAX);
    for (int i = 0; i < 4; i++)
        goals_trial_began(&f, t0);
    CHECK_EQ(goals_deadline(&f, t0), t0 + 5 * SECOND / 2);
    goals_trial_left(&f, t0);
    end(&f, "00000", 1); /* it ran for a second */
    CHECK_EQ(goals_deadline(&f, t0 + SECOND), t0 + 3 * SECOND);
    CHECK(!is_over(&f, t0 + 3 * SECOND - 1000));
    CHECK(is_over(&f, t0 + 3 * SECOND));
    CHECK_EQ(goals_deadline(&f, t0 + 4 * SECOND), t0 + 4 * SECOND);
}

static void
end_with(struct goals *f, const char *trial, double a, double b)
{
    struct objective_values v = {.values = {a, b}};
    struct goals_trial e = {.trial = trial,
                            .counts = true,
                            .has_value = true,
                            .value = a,
                            .values = &v};

    v.violation = objectives_violation(f->of, v.values);
    goals_trial_ended(f, &e);
}

TEST(manager_finish_by_the_hypervolume_of_several_values)
{
    struct objectives *of = objectives_read(
        "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\", "
        "\"reference\": 10}, {\"name\": \"b\", \"direction\": \"minimize\", "
        "\"reference\": 10}], \"resultConstraints\": [\"a >= 1\"]}",
        NULL);
    struct goals f = {.of = of, .has_stop_value = true, .stop_value = 50};
    struct goals g = {.of = of, .max_without = 2};
    char why[200];

    end_with(&f, "00000", 5, 5);
    CHECK(!is_over(&f, 0));
    end_with(&f, "00001", 0, 0); /* beyond a limit */
    CHECK(!is_over(&f, 0));
    end_with(&f, "00002", 2, 3);
    CHECK(is_over(&f, 0));
    CHECK(goals_reached(&f, 0, why, sizeof why));
    CHECK_STR(why, "finished: trial 00002 made the hypervolume 56, stopValue "
                   "is 50");
    end_with(&g, "00000", 5, 5);
    end_with(&g, "00001", 4, 11);
    CHECK(!is_over(&g, 0));
    end_with(&g, "00002", 4, 9);
    end_with(&g, "00003", 6, 6);
    CHECK(!is_over(&g, 0));
    end_with(&g, "00004", 6, 6);
    CHECK(is_over(&g, 0));
    goals_fini(&f);
    goals_fini(&g);
    objectives_free(of);
}

/* Of eight objectives and a large front it is worked out for a stopValue alone,
 * and otherwise when the front is small again. */
TEST(manager_finish_measures_a_large_front_where_a_goal_needs_it)
{
    struct objectives *of;
    struct goals f = {.has_stop_value = true, .stop_value = INFINITY};
    struct goals g = {0};
    char text[1000] = "{\"objectives\": [";

    for (int i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s{\"name\": \"%c\", \"direction\": \"minimize\", "
                 "\"reference\": 256}",
                 i > 0 ? ", " : "", 'a' + i);
    strcat(text, "]}");
    f.of = g.of = of = objectives_read(text, NULL);
    for (int i = 0; i <= 200; i++) {
        end_with(&f, "00000", i, 200 - i);
        CHECK(!isnan(g.hypervolume));
        end_with(&g, "00000", i, 200 - i);
    }
    CHECK(isnan(g.hypervolume));
    end_with(&f, "00001", 0, 0);
    end_with(&g, "00001", 0, 0);
    CHECK(f.hypervolume == pow(256, 8));
    CHECK(g.hypervolume == pow(256, 8));
    goals_fini(&f);
    goals_fini(&g);
    objectives_free(of);
}

TEST(manager_finish_when_one_trial_reached_each_goal)
{
    struct objectives *of = objectives_read(
        "{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\", "
        "\"goal\": 2}, {\"name\": \"b\", \"direction\": \"maximize\", "
        "\"goal\": 5}]}",
        NULL);
    struct goals f = {.of = of};
    char why[200];

    end_with(&f, "00000", 2, 4);
    end_with(&f, "00001", 3, 6);
    CHECK(!is_over(&f, 0));
    end_with(&f, "00002", 2, 5);
    CHECK(is_over(&f, 0));
    CHECK(goals_reached(&f, 0, why, sizeof why));
    CHECK_STR(why, "finished: trial 00002 reached each goal (objectives.goal)");
    goals_fini(&f);
    objectives_free(of);
}
