/* SPDX-License-Identifier: MIT */
#include "unit/filter_help.h"

#define SPACE "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}"

TEST(score_is_none_of_a_tuner_without_one)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK(tuner_plugin(s.tuner)->tuner.score == NULL);
    stack_close(&s);
}

TEST(score_orders_points_and_wants_a_space)
{
    const double a = 0.25, b = 0.75, *points[] = {&a, &b};
    double out[2];
    struct stack s;

    stack_open(&s, "scores", "{}");
    CHECK_EQ(tuner_score(s.tuner, points, 2, out, &s.err), -1);
    CHECK_STR(s.err.text, "tuner scores: score: it has no search space");
    CHECK_EQ(stack_space(&s, SPACE), 0);
    CHECK_EQ(tuner_score(s.tuner, points, 2, out, &s.err), 0);
    CHECK(isnan(out[0]) && isnan(out[1]));
    s.x[0] = 0.7;
    CHECK_EQ(stack_tell(&s, TP_NO_ID, TP_RESULT_IMPORTED), 0);
    CHECK_EQ(tuner_score(s.tuner, points, 2, out, &s.err), 0);
    CHECK(out[1] > out[0]);
    stack_close(&s);
}
