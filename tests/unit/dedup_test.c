/* SPDX-License-Identifier: MIT */
#include "unit/filter_help.h"

#include "core/map.h"

#define DIM(name, type, value) \
    "\"" name "\": {\"_type\": \"" type "\", \"_value\": " value "}"

/* How often each was given out. */
struct counted {
    struct map map;
    size_t counts[4096];
    size_t distinct, total;
};

/* Asks until TP_DONE, at most `most` times. */
static void
ask_all(struct stack *s, size_t most, struct counted *c)
{
    int rc = TP_OK;

    *c = (struct counted){.total = 0};
    while (c->total < most && (rc = stack_ask(s, c->total)) == TP_OK) {
        size_t *n = map_get(&c->map, s->json, strlen(s->json));

        if (n == NULL) {
            n = &c->counts[c->distinct++];
            CHECK_EQ(map_put(&c->map, s->json, strlen(s->json), n), 0);
        }
        *n += 1;
        c->total++;
    }
    if (c->total < most) {
        CHECK_STR(rc == TP_ERR ? s->err.text : "", "");
        CHECK_EQ(rc, TP_DONE);
        CHECK_EQ(stack_ask(s, c->total), TP_DONE); /* for good */
    }
    map_fini(&c->map);
}

static void
check_space(const char *space, const char *args, size_t distinct, size_t total)
{
    struct counted *c = malloc(sizeof *c);
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "dedup", args), 0);
    CHECK_EQ(stack_space(&s, space), 0);
    ask_all(&s, 2000, c);
    CHECK_EQ(c->total, total);
    CHECK_EQ(c->distinct, distinct);
    for (size_t i = 0; i < distinct && distinct < total && total < 2000; i++)
        CHECK_EQ(c->counts[i], total / distinct);
    stack_close(&s);
    free(c);
}

TEST(dedup_gives_out_each_combination_once)
{
    check_space("{" DIM("a", "choice", "[1, 2, 3]") ", " DIM(
                    "b", "randint", "[-2, 2]") ", " DIM("c", "quniform",
                                                        "[0, 1, 0.5]") "}",
                "{}", 36, 36);
}

TEST(dedup_knows_what_a_trial_cannot_tell_apart)
{
    check_space("{" DIM("a", "choice", "[1, 1, 1, 2]") "}", "{}", 2, 2);
    check_space("{" DIM("a", "uniform", "[3, 3]") "}", "{}", 1, 1);
    check_space("{" DIM("a", "normal", "[3, 0]") "}", "{}", 1, 1);
    check_space("{" DIM("a", "choice", "[1]") "}", "{}", 1, 1);
}

TEST(dedup_walks_all_multiples_of_q)
{
    check_space("{" DIM("a", "quniform", "[1.6, 9.4, 3]") "}", "{}", 3, 3);
    check_space("{" DIM("a", "quniform", "[-7, 9.4, 3]") "}", "{}", 6, 6);
    check_space("{" DIM("a", "qloguniform", "[1, 20, 3]") "}", "{}", 8, 8);
    check_space("{" DIM("a", "qloguniform", "[0.001, 0.01, 0.001]") "}", "{}",
                10, 10);
}

TEST(dedup_ends_in_a_q_normal_space_too)
{
    struct counted *c = malloc(sizeof *c);
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "dedup", "{}"), 0);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "qnormal", "[0, 2, 1]") "}"), 0);
    ask_all(&s, 2000, c);
    CHECK(c->total >= 17 && c->total < 25); /* four sigma, and few beyond */
    CHECK_EQ(c->distinct, c->total);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "qlognormal", "[0, 1, 1]") "}"), 0);
    ask_all(&s, 2000, c);
    CHECK(c->total >= 50 && c->total < 70); /* exp(4) is 54.6 */
    CHECK_EQ(c->distinct, c->total);
    stack_close(&s);
    free(c);
}

TEST(dedup_repeats_as_often_as_is_allowed)
{
    check_space("{" DIM("a", "choice", "[1, 2, 3]") "}", "{\"repeat\": 2}", 3,
                9);
    check_space("{" DIM("a", "choice", "[1, 2, 3]") "}", "{\"allow\": true}", 3,
                2000);
    check_space("{}", "{}", 1, 2000); /* nothing to be told apart by */
}

TEST(dedup_leaves_continuous_spaces_alone)
{
    const char *space =
        "{" DIM("a", "choice", "[1, 2]") ", " DIM("b", "uniform", "[0, 1]") "}";
    struct stack with, without;

    stack_open(&with, "random", "{}");
    CHECK_EQ(stack_wrap(&with, "dedup", "{}"), 0);
    stack_open(&without, "random", "{}");
    CHECK_EQ(stack_space(&with, space), 0);
    CHECK_EQ(stack_space(&without, space), 0);
    for (uint64_t id = 0; id < 100; id++) {
        CHECK_EQ(stack_ask(&with, id), TP_OK);
        CHECK_EQ(stack_ask(&without, id), TP_OK);
        CHECK_STR(with.json, without.json);
    }
    stack_close(&with);
    stack_close(&without);
}

#define NESTED(value)                                                   \
    "{" DIM("net", "choice",                                            \
            "[{\"_name\": \"none\"}, {\"_name\": \"one\", " value "}, " \
            "{\"_name\": \"two\", " DIM("n", "choice", "[1, 2, 3]") "}]") "}"

TEST(dedup_counts_what_is_active_alone)
{
    check_space(NESTED(DIM("u", "randint", "[0, 4]")), "{}", 8, 8);
}

TEST(dedup_never_ends_where_something_continuous_is_nested)
{
    check_space(NESTED(DIM("u", "uniform", "[0, 1]")), "{}", 2000, 2000);
    check_space(NESTED(DIM("u", "lognormal", "[0, 1]")), "{}", 2000, 2000);
}

TEST(dedup_counts_imported_points_and_forgets_with_the_space)
{
    static const char space[] = "{" DIM("a", "choice", "[1, 2, 3]") "}";
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "dedup", "{}"), 0);
    CHECK_EQ(stack_space(&s, space), 0);
    s.x[0] = 1;
    CHECK_EQ(stack_tell(&s, TP_NO_ID, TP_RESULT_IMPORTED), 0);
    for (uint64_t id = 0; id < 2; id++) {
        CHECK_EQ(stack_ask(&s, id), TP_OK);
        CHECK(strcmp(s.json, "{\"a\": 2}") != 0);
    }
    CHECK_EQ(stack_ask(&s, 2), TP_DONE);
    CHECK_EQ(stack_space(&s, space), 0);
    for (uint64_t id = 3; id < 6; id++)
        CHECK_EQ(stack_ask(&s, id), TP_OK);
    CHECK_EQ(stack_ask(&s, 6), TP_DONE);
    stack_close(&s);
}

TEST(dedup_keeps_its_count_when_a_space_is_refused)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "error", "{\"every\": 2, \"call\": \"space\"}"), 0);
    CHECK_EQ(stack_wrap(&s, "dedup", "{}"), 0);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "choice", "[1, 2]") "}"), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    CHECK_EQ(stack_ask(&s, 1), TP_OK);
    CHECK_EQ(tuner_space(s.tuner, s.space, &s.err), -1);
    CHECK_EQ(stack_ask(&s, 2), TP_DONE);
    stack_close(&s);
}

TEST(dedup_takes_back_what_was_asked_for_again)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "dedup", "{}"), 0);
    CHECK_EQ(stack_wrap(&s, "misfilter", "{\"how\": 5}"), 0);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "choice", "[1, 2, 3]") "}"), 0);
    for (uint64_t id = 0; id < 3; id++)
        CHECK_EQ(stack_ask(&s, id), TP_OK);
    CHECK_EQ(stack_ask(&s, 3), TP_DONE);
    stack_close(&s);
}
