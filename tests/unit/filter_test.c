/* SPDX-License-Identifier: MIT */
#include "unit/filter_help.h"

#define LINE "{\"x\": {\"_type\": \"uniform\", \"_value\": [0, 1]}}"

TEST(filter_stack_calls_and_creates_and_destroys_in_order)
{
    struct stack s;

    stack_open(&s, "calls", "{}");
    CHECK_EQ(stack_wrap(&s, "log", "{\"title\": \"in\", \"both\": true}"), 0);
    CHECK_EQ(stack_wrap(&s, "log", "{\"title\": \"mid\", \"both\": true}"), 0);
    CHECK_EQ(stack_wrap(&s, "log", "{\"title\": \"out\", \"both\": true}"), 0);
    CHECK_STR(stack_log(&s), "tuner calls: create\n"
                             "filter log: in: create\n"
                             "filter log: mid: create\n"
                             "filter log: out: create\n");
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_STR(stack_log(&s), "filter log: out: space\n"
                             "filter log: mid: space\n"
                             "filter log: in: space\n"
                             "tuner calls: space of 1\n"
                             "filter log: in: space: ok\n"
                             "filter log: mid: space: ok\n"
                             "filter log: out: space: ok\n");
    CHECK_EQ(stack_ask(&s, 7), TP_OK);
    CHECK_STR(s.json, "{\"x\": 0.25}");
    CHECK_STR(stack_log(&s), "filter log: out: ask 7\n"
                             "filter log: mid: ask 7\n"
                             "filter log: in: ask 7\n"
                             "tuner calls: ask 7\n"
                             "filter log: in: ask 7: ok\n"
                             "filter log: mid: ask 7: ok\n"
                             "filter log: out: ask 7: ok\n");
    CHECK_EQ(stack_tell(&s, 7, TP_RESULT_FINAL), 0);
    CHECK_STR(stack_log(&s), "filter log: out: tell 7\n"
                             "filter log: mid: tell 7\n"
                             "filter log: in: tell 7\n"
                             "tuner calls: tell 7 0.25 how 1\n"
                             "filter log: in: tell 7: ok\n"
                             "filter log: mid: tell 7: ok\n"
                             "filter log: out: tell 7: ok\n");
    CHECK_EQ(tuner_ended(s.tuner, 7, s.x, TP_ENDED_SUCCEEDED, &s.err), 0);
    CHECK_STR(stack_log(&s), "filter log: out: ended 7\n"
                             "filter log: mid: ended 7\n"
                             "filter log: in: ended 7\n"
                             "tuner calls: ended 7 0.25 how 1\n"
                             "filter log: in: ended 7: ok\n"
                             "filter log: mid: ended 7: ok\n"
                             "filter log: out: ended 7: ok\n");
    stack_destroy(&s);
    CHECK_STR(stack_log(&s), "filter log: out: destroy\n"
                             "filter log: mid: destroy\n"
                             "filter log: in: destroy\n"
                             "tuner calls: destroy\n");
}

TEST(filter_descriptions_stand_in_the_order_of_calls)
{
    struct stack s;
    struct buf b;

    stack_open(&s, "calls", "{}");
    CHECK(tuner_filter(s.tuner, 0) == NULL);
    CHECK_EQ(stack_wrap(&s, "dedup", "{\"repeat\": 2}"), 0);
    CHECK_EQ(stack_wrap(&s, "Log", "{}"), 0);
    CHECK_STR(tuner_filter(s.tuner, 0)->name, "log");
    CHECK_STR(tuner_filter(s.tuner, 1)->name, "dedup");
    CHECK(tuner_filter(s.tuner, 2) == NULL);
    buf_init(&b, 4096);
    tuner_describe_filters(s.tuner, &b);
    CHECK_STR(buf_text(&b),
              "[{\"name\": \"log\", \"version\": 1, \"file\": \"log.so\", "
              "\"seed\": 5, \"arguments\": {\"title\": \"log\", \"both\": "
              "false}}, {\"name\": \"dedup\", \"version\": 1, \"file\": "
              "\"dedup.so\", \"seed\": 5, \"arguments\": {\"repeat\": 2, "
              "\"allow\": false}}]");
    buf_fini(&b);
    stack_close(&s);
}

TEST(filter_that_fails_is_named_with_its_callback)
{
    static const char *const calls[] = {"space", "ask", "tell", "ended"};
    char args[64], want[96];
    struct stack s;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        stack_open(&s, "calls", "{}");
        snprintf(args, sizeof args, "{\"every\": 2, \"call\": \"%s\"}",
                 calls[i]);
        CHECK_EQ(stack_wrap(&s, "error", args), 0);
        CHECK_EQ(stack_wrap(&s, "log", "{}"), 0); /* passes it on */
        CHECK_EQ(stack_space(&s, LINE), 0);
        CHECK_EQ(stack_ask(&s, 0), TP_OK);
        CHECK_EQ(stack_tell(&s, 0, TP_RESULT_FINAL), 0);
        CHECK_EQ(tuner_ended(s.tuner, 0, s.x, 1, &s.err), 0);
        switch (i) {
        case 0:
            CHECK_EQ(tuner_space(s.tuner, s.space, &s.err), -1);
            break;
        case 1:
            CHECK_EQ(stack_ask(&s, 1), TP_ERR);
            break;
        case 2:
            CHECK_EQ(stack_tell(&s, 1, TP_RESULT_FINAL), -1);
            break;
        case 3:
            CHECK_EQ(tuner_ended(s.tuner, 1, s.x, 1, &s.err), -1);
            break;
        }
        snprintf(want, sizeof want,
                 "filter error: %s: call 2 fails, as was wished", calls[i]);
        CHECK_STR(s.err.text, want);
        CHECK_EQ(s.err.code, ERR_PLUGIN);
        CHECK_HAS(stack_log(&s), want);
        stack_close(&s);
    }
}

TEST(filter_leaves_the_tuner_named_when_that_fails)
{
    struct stack s;

    stack_open(&s, "ask_fails", "{}");
    CHECK_EQ(stack_wrap(&s, "timing", "{}"), 0);
    CHECK_EQ(stack_wrap(&s, "dedup", "{}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 3), TP_ERR);
    CHECK_STR(s.err.text, "tuner ask_fails: ask: the matrix is singular at 3");
    stack_close(&s);
}

TEST(filter_answers_are_checked_as_the_tuners_are)
{
    static const char *const want[] = {
        "filter misfilter: ask: it replaced out->x, expected to find the "
        "point in the array that was there",
        "filter misfilter: ask: label '' has 0 bytes, expected 1 to 255",
        "filter misfilter: ask: x: is -Infinity, expected a number within "
        "[0.0, 1.0] in internal coordinates",
        "filter misfilter: ask: returned 99, expected TP_OK (0), TP_LATER "
        "(1), TP_DONE (2) or TP_ERR (-1)",
        "filter misfilter: ask: failed and did not say why",
    };
    char args[32];
    struct stack s;

    for (int i = 0; i < 5; i++) {
        stack_open(&s, "calls", "{}");
        snprintf(args, sizeof args, "{\"how\": %d}", i);
        CHECK_EQ(stack_wrap(&s, "misfilter", args), 0);
        CHECK_EQ(stack_space(&s, LINE), 0);
        CHECK_EQ(stack_ask(&s, 0), TP_ERR);
        CHECK_STR(s.err.text, want[i]);
        stack_close(&s);
    }
}

TEST(filter_may_ask_again)
{
    struct stack s;

    stack_open(&s, "calls", "{}");
    CHECK_EQ(stack_wrap(&s, "misfilter", "{\"how\": 5}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    stack_log(&s);
    CHECK_EQ(stack_ask(&s, 4), TP_OK);
    CHECK_STR(stack_log(&s), "tuner calls: ask 4\ntuner calls: ask 4\n");
    stack_close(&s);
}

TEST(filter_that_does_not_fit_is_refused)
{
    static const struct {
        const char *name, *args, *want;
    } cases[] = {
        {"otherbuild", "{}",
         "otherbuild.so: a filter of another build (tunepipe 0.0.1), this is "
         "tunepipe " TP_VERSION ": build both together"},
        {"shortfilter", "{}",
         "shortfilter.so: a filter of another build (tunepipe unknown), this "
         "is tunepipe " TP_VERSION ": build both together"},
        {"later", "{}", "later.so: is a tuner, expected a filter"},
        {"dedupp", "{}", "no filter 'dedupp' (did you mean 'dedup'?)"},
        {"delay", "{}", "filter delay: args.ms: "},
        {"error", "{\"every\": 0}", "filter error: args.every: is 0, expected"},
        {"dedup", "{\"repeats\": 1}", "filter dedup: args.repeats: "},
    };
    struct stack s;

    stack_open(&s, "calls", "{}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(stack_wrap(&s, cases[i].name, cases[i].args), -1);
        CHECK_HAS(s.err.text, cases[i].want);
        CHECK_EQ(s.err.code, ERR_CONFIG);
    }
    CHECK(tuner_filter(s.tuner, 0) == NULL);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    stack_close(&s);
}

TEST(filter_fallback_samples_the_prior_where_the_tuner_fails)
{
    struct stack s;
    double want[1];

    stack_open(&s, "calls", "{}");
    CHECK_EQ(stack_wrap(&s, "error", "{\"every\": 2}"), 0);
    CHECK_EQ(stack_wrap(&s, "fallback", "{}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    CHECK(s.x[0] == 0.25);
    stack_log(&s);
    CHECK_EQ(stack_ask(&s, 1), TP_OK);
    space_sample(s.space, 5, 1, want);
    CHECK(s.x[0] == want[0]);
    CHECK_HAS(stack_log(&s), "filter fallback: suggestion 1 is a sample of the "
                             "prior: filter error: ask: call 2 fails, as was "
                             "wished\n");
    /* The tuner never said yes to 1. */
    CHECK_EQ(stack_tell(&s, 1, TP_RESULT_STOPPED), 0);
    CHECK_EQ(tuner_ended(s.tuner, 1, s.x, 1, &s.err), 0);
    CHECK_STR(stack_log(&s), "");
    s.x[0] = 0.5;
    CHECK_EQ(stack_tell(&s, 1, TP_RESULT_FINAL), 0);
    CHECK_STR(stack_log(&s), "tuner calls: tell -1 0.5 how 3\n");
    CHECK_EQ(stack_tell(&s, 0, TP_RESULT_FINAL), 0);
    CHECK_EQ(tuner_ended(s.tuner, 0, s.x, 1, &s.err), 0);
    CHECK_STR(stack_log(&s), "tuner calls: tell 0 0.5 how 1\n"
                             "tuner calls: ended 0 0.5 how 1\n");
    stack_close(&s);
}

TEST(filter_fallback_serves_when_nothing_is_out_to_wait_for)
{
    struct stack s;

    stack_open(&s, "never", "{}");
    CHECK_EQ(stack_wrap(&s, "fallback", "{}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    CHECK_EQ(stack_ask(&s, 1), TP_LATER); /* 0 is out */
    CHECK_EQ(tuner_ended(s.tuner, 0, s.x, 1, &s.err), 0);
    CHECK_EQ(stack_ask(&s, 1), TP_OK);
    stack_close(&s);
    stack_open(&s, "done", "{\"count\": 1}");
    CHECK_EQ(stack_wrap(&s, "fallback", "{}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    CHECK_EQ(stack_ask(&s, 1), TP_DONE); /* the end is the end */
    stack_close(&s);
}

TEST(filter_timing_counts_calls)
{
    struct stack s;

    stack_open(&s, "calls", "{}");
    CHECK_EQ(stack_wrap(&s, "timing", "{}"), 0);
    CHECK_EQ(stack_wrap(&s, "delay", "{\"ms\": 1, \"call\": \"tell\"}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    for (uint64_t id = 0; id < 3; id++)
        CHECK_EQ(stack_ask(&s, id), TP_OK);
    CHECK_EQ(stack_tell(&s, 1, TP_RESULT_FINAL), 0);
    stack_log(&s);
    stack_destroy(&s);
    CHECK_HAS(stack_log(&s), "filter timing: space: 1 calls, mean ");
    CHECK_HAS(s.text, "filter timing: ask: 3 calls, mean ");
    CHECK_HAS(s.text, "filter timing: tell: 1 calls, mean ");
    CHECK(strstr(s.text, "ended") == NULL);
}

/* The filter's array is the host's, whatever the tuner makes of its own. */
TEST(filter_around_a_tuner_that_loses_its_point)
{
    struct stack s;

    stack_open(&s, "mistuner", "{\"how\": \"lost\"}");
    CHECK_EQ(stack_wrap(&s, "fallback", "{}"), 0);
    CHECK_EQ(stack_space(&s, LINE), 0);
    CHECK_EQ(stack_ask(&s, 2), TP_OK);
    CHECK(s.x[0] >= 0 && s.x[0] <= 1);
    CHECK_HAS(stack_log(&s), "suggestion 2 is a sample of the prior: tuner "
                             "mistuner: ask: the point is lost");
    stack_close(&s);
}
