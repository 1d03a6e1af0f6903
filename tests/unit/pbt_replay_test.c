/* SPDX-License-Identifier: MIT */
#include "pbt_replay/line.h"
#include "pbt_replay/points.h"
#include "pbt_replay/schedule.h"

#include "unit/prior_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static struct schedule
parsed(const char *text)
{
    struct schedule s;
    char why[SCHEDULE_WHY_MAX] = "";

    if (schedule_parse(&s, text, why) != 0)
        printf("# %s\n", why);
    CHECK_STR(why, "");
    return s;
}

TEST(pbt_replay_reads_schedules)
{
    struct schedule s = parsed("0: lr=1e-3 a%20%3D/b=#2;\n 10:lr=-0.5;10: "
                               "lr=3; 25:");
    static const uint64_t from[] = {0, 10, 10, 25}, until[] = {10, 0, 25, 0};

    CHECK_EQ(s.n_segments, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(s.segments[i].from, from[i]);
        CHECK_EQ(s.segments[i].until, until[i]);
    }
    CHECK_EQ(s.n_pairs, 4);
    CHECK_EQ(s.segments[0].n, 2);
    CHECK_STR(s.pairs[0].name, "lr");
    CHECK(s.pairs[0].value == 1e-3 && !s.pairs[0].is_index);
    CHECK_STR(s.pairs[1].name, "a =/b");
    CHECK(s.pairs[1].value == 2 && s.pairs[1].is_index);
    CHECK(s.segments[1].first == 2 && s.pairs[2].value == -0.5);
    CHECK_EQ(s.segments[3].n, 0);
    schedule_free(&s);
}

TEST(pbt_replay_refuses_what_is_no_schedule)
{
    static const char *const cases[][2] = {
        {"", "column 1: is '', expected a number of results"},
        {"lr=1", "column 1: is 'lr=1', expected a number of results"},
        {"5: x=1", "column 1: is '5: x=1', expected a first segment"},
        {"0: x=1; 7: x=2; 3: x=3", "column 17: is '3: x=3', expected a step"},
        {"0: x", "column 5: is '', expected a parameter's name and ="},
        {"0: =1", "column 4: is '=1', expected a parameter's name and ="},
        {"0: x=", "column 6: is '', expected a number"},
        {"0: x=0x10", "column 6: is '0x10', expected a number"},
        {"0: x=nan", "column 6: is 'nan', expected a number"},
        {"0: x=1e999", "column 6: is '1e999', expected a number"},
        {"0: x=1,y=2", "column 7: is ',y=2', expected a space"},
        {"0: x=#1.5", "column 7: is '1.5', expected an index"},
        {"0: x=#-1", "column 7: is '-1', expected an index"},
        {"0: a%2=1", "column 5: is '%2=1', expected a parameter's name"},
        {"9999999999999999999: x=1", "expected a number of results"},
        {"-1: x=1", "expected a number of results"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schedule s;
        char why[SCHEDULE_WHY_MAX] = "";

        CHECK_EQ(schedule_parse(&s, cases[i][0], why), -1);
        CHECK_HAS(why, cases[i][1]);
    }
}

/* ---- points ---- */

struct fake {
    struct tp_host host;
    struct space *space;
    uint64_t seed;
};

static double
fake_value(void *ctx, size_t dim, double x)
{
    return space_value(((struct fake *)ctx)->space, dim, x);
}

static double
fake_uniform(void *ctx, uint64_t a, uint32_t b, uint32_t draw)
{
    return help_uniform(&((struct fake *)ctx)->seed, a, b, draw);
}

static struct fake *
fake_new(const char *space)
{
    struct fake *f = calloc(1, sizeof *f);

    f->space = help_space(space);
    f->host = (struct tp_host){._struct_size = sizeof f->host,
                               .ctx = f,
                               .uniform = fake_uniform,
                               .value = fake_value};
    return f;
}

static void
fake_free(struct fake *f)
{
    space_free(f->space);
    free(f);
}

static int
place(struct fake *f, const char *text, double *x, char *why)
{
    struct schedule s = parsed(text);
    int rc = points_place(&s, &f->host, space_dims(f->space), x, why);

    schedule_free(&s);
    return rc;
}

/* What trials were given they are given again, to the bit. */
TEST(pbt_replay_gives_the_very_values)
{
    struct fake *f = fake_new(MIXED_SPACE);
    const struct tp_space *s = space_dims(f->space);
    struct prior prior = help_prior(f->space);
    struct prior_random random = help_random(&f->seed);
    double x[X_MAX], y[X_MAX];
    char text[4000], why[SCHEDULE_WHY_MAX];

    for (uint64_t id = 0; id < 500; id++) {
        size_t len = (size_t)snprintf(text, sizeof text, "0:");

        prior_fill(&prior, x, &random, id, 0);
        for (size_t i = 0; i < s->n_dims; i++)
            if (!isnan(x[i]))
                len +=
                    (size_t)snprintf(text + len, sizeof text - len,
                                     " %s=%s%.17g", TP_DIM(s, i)->name,
                                     TP_DIM(s, i)->kind == TP_CHOICE ? "#" : "",
                                     space_value(f->space, i, x[i]));
        CHECK_EQ(place(f, text, y, why), 0);
        help_check_point(f->space, y);
        for (size_t i = 0; i < s->n_dims; i++)
            CHECK((isnan(x[i]) && isnan(y[i])) ||
                  space_value(f->space, i, x[i]) ==
                      space_value(f->space, i, y[i]));
    }
    prior_fini(&prior);
    fake_free(f);
}

TEST(pbt_replay_keeps_what_is_not_named)
{
    struct fake *f = fake_new("{'u': {'_type': 'uniform', '_value': [0, 1]},"
                              " 'c': {'_type': 'choice', '_value': ["
                              "  {'_name': 'a', 'v': {'_type': 'normal', "
                              "   '_value': [0, 1]}}, {'_name': 'b'}]}}");
    double x[4][3];
    char why[SCHEDULE_WHY_MAX];

    CHECK_EQ(place(f, "0: c=#1; 5: u=0.5; 9: c=#0; 12: c/v=2", x[0], why), 0);
    CHECK(x[0][0] > 0 && x[0][0] < 1 && x[0][0] != 0.5); /* a draw */
    CHECK(x[0][1] == 1 && isnan(x[0][2]));
    CHECK(x[1][0] == 0.5 && x[1][1] == 1 && isnan(x[1][2]));
    CHECK(x[2][0] == 0.5 && x[2][1] == 0 && isfinite(x[2][2]));
    CHECK(x[3][0] == 0.5 && x[3][1] == 0 && x[3][2] == 2);
    fake_free(f);
}

TEST(pbt_replay_refuses_what_the_space_has_not)
{
    static const char *const cases[][2] = {
        {"0: x=1", "segment 1: x: is none of the search space"},
        {"0: u=1; 3: u=6", "segment 2: u: is 6, which no trial"},
        {"0: u=#1", "segment 1: u: expected a number"},
        {"0: c=1", "segment 1: c: expected # and an index"},
        {"0: c=#3", "segment 1: c: is none of the 3"},
        {"0: i=3", "segment 1: i: is none of the 5"},
        {"0: i=0.5", "segment 1: i: is none of the 5"},
        {"0: l=0", "segment 1: l: is 0, which no trial"},
        {"0: q=1", "segment 1: q: is 1, which no trial"},
        {"0: net=#1 net/v=0.5", "segment 1: net/v: is given, and not active"},
    };
    struct fake *f = fake_new(MIXED_SPACE);
    double x[2 * X_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[SCHEDULE_WHY_MAX] = "";

        CHECK_EQ(place(f, cases[i][0], x, why), -1);
        CHECK_HAS(why, cases[i][1]);
    }
    fake_free(f);
}

/* ---- the line ---- */

TEST(pbt_replay_goes_from_one_trial_to_the_next)
{
    struct schedule s = parsed("0: x=1; 10: x=2; 10: x=3; 15: x=4");
    struct schedule_line l;

    line_begin(&l);
    CHECK_EQ(line_ask(&l, &s, 1), LINE_POINT);
    CHECK(l.segment == 0 && l.from == LINE_NO_ID);
    CHECK_EQ(line_budget(&l, &s, 20), 10);
    CHECK_EQ(line_ask(&l, &s, 2), LINE_LATER);
    CHECK_EQ(line_metric(&l, &s, 20, 1, 9), LINE_GO);
    CHECK_EQ(line_metric(&l, &s, 20, 7, 90), LINE_GO);
    CHECK_EQ(line_metric(&l, &s, 20, 1, 10), LINE_PAUSE);
    CHECK_EQ(line_ended(&l, 1, true), LINE_NO_ID);
    CHECK_EQ(line_ask(&l, &s, 3), LINE_POINT);
    CHECK(l.segment == 1 && l.from == 1 && l.from_turn == 0 && l.turn == 1);
    CHECK_EQ(line_budget(&l, &s, 20), 0); /* ends when its trial does */
    CHECK_EQ(line_metric(&l, &s, 20, 3, 99), LINE_GO);
    CHECK_EQ(line_ended(&l, 3, false), LINE_NO_ID); /* it failed */
    CHECK_EQ(line_ask(&l, &s, 4), LINE_POINT);
    CHECK(l.segment == 1 && l.from == 1 && l.from_turn == 0 && l.turn == 2);
    CHECK_EQ(line_ended(&l, 4, true), 1); /* nobody needs the first any more */
    CHECK_EQ(line_ask(&l, &s, 5), LINE_POINT);
    CHECK_EQ(line_budget(&l, &s, 20), 15);
    CHECK_EQ(line_ended(&l, 5, true), 4);
    CHECK_EQ(line_ask(&l, &s, 6), LINE_POINT);
    CHECK_EQ(line_budget(&l, &s, 20), 20);
    CHECK_EQ(line_metric(&l, &s, 20, 6, 20), LINE_FINISH);
    CHECK_EQ(line_ask(&l, &s, 7), LINE_LATER);
    CHECK_EQ(line_ended(&l, 6, true), 5);
    CHECK_EQ(line_ask(&l, &s, 7), LINE_OVER);
    schedule_free(&s);
}
