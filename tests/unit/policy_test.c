/* SPDX-License-Identifier: MIT */
#include "dispatcher/policy.h"
#include "json.h"
#include "objectives/objectives.h"

#include "dispatcher_help.h"

TEST(policy_words_come_back)
{
    static const char *const stopped[] = {"ignore", "latest", "best"};
    static const char *const on_error[] = {"skip", "fail"};
    static const char *const ask_error[] = {"refuse", "prior"};

    for (int i = 0; i < 12; i++) {
        struct policy p = {.extensions = i % 2, .maximize = i % 3 == 0};
        char want[200];
        struct json_writer w;
        struct buf out;

        buf_init(&out, 1000);
        w = json_begin_object(&out);
        CHECK_EQ(policy_set_stopped(&p, stopped[i % 3], NULL), 0);
        CHECK_EQ(policy_set_on_error(&p, on_error[i % 2], NULL), 0);
        CHECK_EQ(policy_set_ask_error(&p, ask_error[i / 6], NULL), 0);
        policy_write(&p, &w);
        json_close(&w);
        snprintf(want, sizeof want,
                 "{\"early_stopped\": \"%s\", \"on_error\": \"%s\", "
                 "\"ask_error\": \"%s\", \"extensions\": %s, "
                 "\"maximize\": %s}",
                 stopped[i % 3], on_error[i % 2], ask_error[i / 6],
                 i % 2 ? "true" : "false", i % 3 == 0 ? "true" : "false");
        CHECK_STR(buf_text(&out), want);
        buf_fini(&out);
    }
}

TEST(policy_refuses_other_words_and_names_the_nearest)
{
    struct policy p = {.stopped = TELL_BEST};
    struct err err;

    CHECK_EQ(policy_set_stopped(&p, "lates", &err), -1);
    CHECK_STR(err.text, "expected one of ignore, latest, best, "
                        "got 'lates' (did you mean 'latest'?)");
    CHECK_EQ(err.code, ERR_USAGE);
    CHECK_EQ(p.stopped, TELL_BEST);
    CHECK_EQ(policy_set_on_error(&p, "", &err), -1);
    CHECK_HAS(err.text, "expected one of skip, fail, got ''");
    CHECK_EQ(policy_set_ask_error(&p, "Prior", &err), -1);
    CHECK_HAS(err.text, "expected one of refuse, prior");
}

static struct objectives *
read_objectives(const char *more)
{
    char json[300];
    struct objectives *o;

    snprintf(json, sizeof json,
             "{\"objectives\": [{\"name\": \"acc\", \"direction\": "
             "\"maximize\"}%s}",
             more);
    o = objectives_read(json, NULL);
    CHECK(o != NULL);
    return o;
}

TEST(policy_of_one_objective_has_its_direction)
{
    struct objectives *o = read_objectives("]");
    struct policy p = {0};

    CHECK_EQ(policy_set_objectives(&p, o, NULL, NULL), 0);
    CHECK(!policy_scalarizes(&p) && policy_judged(&p) == SIZE_MAX);
    CHECK_STR(policy_direction(&p), "maximize");
    CHECK_STR(policy_assessor_direction(&p), "maximize");
    CHECK_STR(policy_program_direction(&p), "maximize");
    objectives_free(o);
    o = read_objectives("], \"resultConstraints\": [\"ms <= 2\"]");
    CHECK_EQ(policy_set_objectives(&p, o, NULL, NULL), 0);
    CHECK(policy_scalarizes(&p));
    CHECK_STR(policy_direction(&p), "minimize");
    CHECK(policy_program_direction(&p) == NULL);
    objectives_free(o);
}

TEST(policy_of_several_objectives_minimizes_what_is_made_of_them)
{
    struct objectives *o =
        read_objectives(", {\"name\": \"ms\", \"direction\": \"minimize\"}]");
    struct policy p = {0};
    struct err err;

    CHECK_EQ(policy_set_objectives(&p, o, "acc", NULL), 0);
    CHECK_STR(policy_direction(&p), "minimize");
    CHECK_EQ(policy_judged(&p), 0);
    CHECK_STR(policy_assessor_direction(&p), "maximize");
    CHECK_EQ(policy_set_objectives(&p, o, "mss", &err), -1);
    CHECK_STR(err.text, "'mss' is no objective, expected the name of one, or "
                        "rank (did you mean 'ms'?)");
    objectives_free(o);
}
