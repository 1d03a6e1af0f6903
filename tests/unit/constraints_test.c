/* SPDX-License-Identifier: MIT */
#include "filters/constraints/expression.h"

#include "numerics/random.h"
#include "plugin/host.h"
#include "unit/filter_help.h"

#define DIM(name, type, value) \
    "\"" name "\": {\"_type\": \"" type "\", \"_value\": " value "}"
#define SPACE                                                                                                                                                            \
    "{" DIM("x", "uniform", "[0, 1]") ", " DIM("y", "uniform", "[0, 1]") ", " DIM("n", "randint", "[1, 100]") ", " DIM("opt", "choice", "[\"adam\", \"sgd\"]") ", " DIM( \
        "batch", "choice",                                                                                                                                               \
        "[16, 32]") ", " DIM("bias", "choice",                                                                                                                           \
                             "[true, false]") ", " DIM("net", "choice",                                                                                                  \
                                                       "[{\"_name\": \"a\"}, {\"_name\": \"b\", " DIM(                                                                   \
                                                           "units",                                                                                                      \
                                                           "quniform",                                                                                                   \
                                                           "[8, 64, 8]") "}]") ", " DIM("odd name",                                                                      \
                                                                                        "uniform",                                                                       \
                                                                                        "[0, 1]") ", " DIM("mixed",                                                      \
                                                                                                           "choice",                                                     \
                                                                                                           "[1, \"one\", null]") "}"

enum { X, Y, N, OPT, BATCH, BIAS, NET, UNITS, ODD, MIXED, N_DIMS };
static const double at[N_DIMS] = {0.25, 0.5, 6, 0, 1, 0, 1, 16, 0.75, 1};

struct bench {
    struct space *space;
    struct host *host;
};

static void
bench_open(struct bench *b)
{
    struct json *doc = json_parse(SPACE, strlen(SPACE), 0, NULL);
    struct problems problems;
    struct err err = {0};

    problems_init(&problems);
    b->space = space_parse(json_root(doc), &problems);
    CHECK_STR(buf_text(&problems.lines), "");
    b->host = host_new("filter constraints", 1, RANDOM_TEST, NULL, &err);
    host_set_space(b->host, b->space);
    problems_fini(&problems);
    json_free(doc);
}

static void
bench_close(struct bench *b)
{
    host_free(b->host);
    space_free(b->space);
}

/* "true", "false", or what is wrong. */
static const char *
judge(const struct bench *b, const char *text, const double *x,
      char why[EXPRESSION_WHY_MAX])
{
    const struct tp_host *host = host_services(b->host);
    const struct tp_space *space = space_dims(b->space);
    struct expression e;

    if (expression_parse(&e, text, host, space, why) != NULL)
        snprintf(why, EXPRESSION_WHY_MAX, "%s",
                 expression_holds(&e, host, space, x) ? "true" : "false");
    expression_fini(&e);
    return why;
}

struct judged {
    const char *text, *want;
};

static void
check_all(const struct judged *list, size_t n)
{
    char why[EXPRESSION_WHY_MAX];
    struct bench b;

    bench_open(&b);
    for (size_t i = 0; i < n; i++) {
        judge(&b, list[i].text, at, why);
        if (strcmp(why, list[i].want) != 0)
            printf("%s\n", list[i].text);
        CHECK_STR(why, list[i].want);
    }
    bench_close(&b);
}

/* x 0.25, y 0.5, n 7, opt adam, batch 32, bias true, net b with 16 units,
 * `odd name` 0.75, mixed "one". */
TEST(constraints_mean_what_they_do_in_python)
{
    static const struct judged list[] = {
        {"x < y", "true"},
        {"x > y", "false"},
        {"x < y < 1", "true"},
        {"x < y < 0.4", "false"},
        {"0 < x <= 0.25 != y", "true"},
        {"x + y * 2 == 1.25", "true"},
        {"(x + y) * 2 == 1.5", "true"},
        {"1 - x - y == 0.25", "true"},
        {"8 / 4 / 2 == 1", "true"},
        {"-2 ** 2 == -4", "true"},
        {"2 ** -1 == y", "true"},
        {"2 ** 3 ** 2 == 512", "true"},
        {"n == 7 and n % 4 == 3", "true"},
        {"-7 % 4 == 1 and 7 % -4 == -1", "true"},
        {"batch * x <= 8", "true"},
        {"opt == \"adam\"", "true"},
        {"opt != 'adam' or x < 0.1", "false"},
        {"opt in (\"sgd\", 'adam')", "true"},
        {"n not in (1, 2, x + 6.75)", "false"},
        {"not (x < y)", "false"},
        {"not x > y and not false", "true"},
        {"true or false and false", "true"},
        {"bias", "true"},
        {"not bias or n < 10", "true"},
        {"bias == (x < y)", "true"},
        {"net == 'b' and net/_name != 'a'", "true"},
        {"net/units % 16 == 0", "true"},
        {"n / net/units < 1", "true"},
        {"`odd name` == .75", "true"},
        {"`net/units` == 1.6e1", "true"},
        {"mixed == 'one'", "true"},
        {"mixed != 1", "true"},
        {"min(x, y, 3) == x and max(1, n) == n", "true"},
        {"abs(x - y) == x and floor(-x) == -1 and ceil(x) == 1", "true"},
        {"round(2.5) == 2 and sqrt(x) == y", "true"},
        {"exp(log(1)) == 1", "true"},
        {"log(-1) < 0", "false"},
        {"0 / 0 == 0 / 0", "false"},
    };

    check_all(list, sizeof list / sizeof *list);
}

TEST(constraints_say_what_is_wrong_and_where)
{
    static const struct judged list[] = {
        {"", "column 1: it ends here, expected a parameter, a number or a "
             "text"},
        {"x <", "column 4: it ends here, expected a parameter, a number or a "
                "text"},
        {"x", "column 1: a constraint wants comparisons, such as x < y, or "
              "truth values"},
        {"n < unit", "column 5: no parameter 'unit' (did you mean 'net'?)"},
        {"n < net/unit", "column 5: no parameter 'net/unit' (did you mean "
                         "'net/units'?)"},
        {"btch < 3", "column 1: no parameter 'btch' (did you mean 'batch'?)"},
        {"opt == 'adm'", "column 5: 'opt' has no element \"adm\" (did you "
                         "mean 'adam'?)"},
        {"'sdg' != opt", "column 7: 'opt' has no element \"sdg\" (did you "
                         "mean 'sgd'?)"},
        {"opt < 3", "column 5: compares a choice with a number, expected "
                    "numbers"},
        {"x == 'a'", "column 3: compares a number with a text, which are "
                     "never equal"},
        {"bias == 1", "column 6: compares a truth value with a number, which "
                      "are never equal"},
        {"opt + 1 < 3", "column 5: '+' wants numbers"},
        {"x and y", "column 3: 'and' wants comparisons, such as x < y, or "
                    "truth values"},
        {"x = y", "column 3: '=', expected =="},
        {"x < y && x < 1", "column 7: '&', expected the word and"},
        {"x < y y", "column 7: 'y', expected an operator or the end"},
        {"(x < y", "column 7: it ends here, expected ')'"},
        {"max(x) < 1", "column 6: ')', expected ',' and another number"},
        {"abs(x, y) < 1", "column 6: ',', expected ')'"},
        {"opt == 'adam", "column 8: expected another ' behind it"},
        {"x < 3x", "column 5: '3', expected a parameter, a number or a text"},
        {"and < 1", "column 1: 'and', expected a parameter, a number or a "
                    "text"},
        {"x not 3", "column 7: '3', expected 'in'"},
    };

    check_all(list, sizeof list / sizeof *list);
}

TEST(constraints_are_no_deeper_than_the_stack)
{
    char why[EXPRESSION_WHY_MAX], text[20000] = "";
    struct bench b;

    bench_open(&b);
    for (int i = 0; i < 5000; i++)
        strcat(text, "(");
    CHECK(strstr(judge(&b, text, at, why), "nested too deep") != NULL);
    for (int i = 0; i < 5000; i++)
        text[i] = '-';
    CHECK(strstr(judge(&b, text, at, why), "nested too deep") != NULL);
    strcpy(text, "0");
    for (int i = 0; i < 5000; i++)
        strcat(text, "+x");
    CHECK(strstr(judge(&b, text, at, why), "too long") != NULL);
    /* Each level says its middle twice. */
    strcpy(text, "bias");
    for (int i = 0; i < 20; i++) {
        memmove(text + 9, text, strlen(text) + 1);
        memcpy(text, "bias == (", 9);
        strcat(text, ") == bias");
    }
    CHECK(strstr(judge(&b, text, at, why), "too long") != NULL);
    bench_close(&b);
}

TEST(constraints_hold_where_a_parameter_is_inactive)
{
    char why[EXPRESSION_WHY_MAX];
    double x[N_DIMS];
    struct bench b;

    bench_open(&b);
    memcpy(x, at, sizeof x);
    CHECK_STR(judge(&b, "net/units > 100", x, why), "false");
    x[NET] = 0;
    x[UNITS] = NAN;
    CHECK_STR(judge(&b, "net/units > 100", x, why), "true");
    CHECK_STR(judge(&b, "x > y and net/units > 100", x, why), "true");
    CHECK_STR(judge(&b, "x > y", x, why), "false");
    bench_close(&b);
}

/* ---- the filter ---- */

#define SQUARE \
    "{" DIM("x", "uniform", "[0, 1]") ", " DIM("y", "uniform", "[0, 1]") "}"

TEST(constraints_sample_evenly_what_holds)
{
    struct stack s;
    int left = 0;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "constraints", "{\"constraints\": \"x < y\"}"), 0);
    CHECK_EQ(stack_space(&s, SQUARE), 0);
    for (uint64_t id = 0; id < 400; id++) {
        CHECK_EQ(stack_ask(&s, id), TP_OK);
        CHECK(s.x[0] < s.x[1]);
        left += s.x[0] < 0.5; /* 3 of 4 */
    }
    CHECK(left > 270 && left < 330);
    stack_close(&s);
}

/* A grid's points hold or not: each that does comes once. */
TEST(constraints_let_a_grid_end)
{
    struct stack s;
    size_t n = 0;

    stack_open(&s, "grid", "{}");
    CHECK_EQ(stack_wrap(&s, "constraints",
                        "{\"constraints\": \"a + b == 9; a <= 7\"}"),
             0);
    CHECK_EQ(stack_space(&s, "{" DIM("a", "randint", "[0, 10]") ", " DIM(
                                 "b", "randint", "[0, 10]") "}"),
             0);
    while (stack_ask(&s, n) == TP_OK) {
        CHECK_EQ((int)s.x[0] + (int)s.x[1], 9);
        CHECK(s.x[0] <= 7);
        n++;
    }
    CHECK_EQ(n, 8);
    stack_close(&s);
}

/* Not asked again, so moved: to the border, and no further. */
TEST(constraints_move_as_far_as_they_must)
{
    struct stack with, without;

    stack_open(&with, "random", "{}");
    stack_open(&without, "random", "{}");
    CHECK_EQ(stack_wrap(&with, "constraints",
                        "{\"constraints\": \"x + y <= 1\", \"tries\": 0}"),
             0);
    CHECK_EQ(stack_space(&with, SQUARE), 0);
    CHECK_EQ(stack_space(&without, SQUARE), 0);
    for (uint64_t id = 0; id < 100; id++) {
        CHECK_EQ(stack_ask(&with, id), TP_OK);
        CHECK_EQ(stack_ask(&without, id), TP_OK);
        if (without.x[0] + without.x[1] <= 1)
            CHECK_STR(with.json, without.json);
        else
            CHECK(fabs(with.x[0] + with.x[1] - 1) < 1e-6);
    }
    stack_close(&with);
    stack_close(&without);
}

TEST(constraints_move_choices_and_integers_too)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "constraints",
                        "{\"constraints\": \"net == 'b'; net/units >= n; "
                        "opt == 'sgd' or x < 0.5\", \"tries\": 0}"),
             0);
    CHECK_EQ(stack_space(&s, SPACE), 0);
    for (uint64_t id = 0; id < 200; id++) {
        CHECK_EQ(stack_ask(&s, id), TP_OK);
        CHECK(s.x[NET] == 1 && s.x[UNITS] + 4 >= s.x[N] + 1);
        CHECK(s.x[OPT] == 1 || s.x[X] < 0.5);
    }
    stack_close(&s);
}

TEST(constraints_that_nothing_meets_fail_with_a_line)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "constraints",
                        "{\"constraints\": \"x > 2\", \"draws\": 10}"),
             0);
    CHECK_EQ(stack_space(&s, SQUARE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_ERR);
    CHECK(strstr(s.err.text,
                 "filter constraints: ask: `x > 2` does not hold, "
                 "and in 10 samples of the prior no point") != NULL);
    stack_close(&s);
}

/* Where the prior hardly ever leads a point from elsewhere shows the way. */
TEST(constraints_learn_from_imported_points)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(stack_wrap(&s, "constraints",
                        "{\"constraints\": \"x + y < 0.0001\", \"draws\": 10}"),
             0);
    CHECK_EQ(stack_space(&s, SQUARE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_ERR);
    s.x[0] = s.x[1] = 0.9; /* told all the same */
    CHECK_EQ(stack_tell(&s, TP_NO_ID, TP_RESULT_IMPORTED), 0);
    CHECK_EQ(stack_ask(&s, 1), TP_ERR);
    s.x[0] = s.x[1] = 0.00001;
    CHECK_EQ(stack_tell(&s, TP_NO_ID, TP_RESULT_IMPORTED), 0);
    CHECK_EQ(stack_ask(&s, 2), TP_OK);
    CHECK(s.x[0] + s.x[1] < 0.0001);
    stack_close(&s);
}

TEST(constraints_refuse_a_space_and_keep_the_one_before)
{
    struct stack s;

    stack_open(&s, "random", "{}");
    CHECK_EQ(
        stack_wrap(&s, "constraints", "{\"constraints\": \"x < 2;\\nx < y\"}"),
        0);
    CHECK_EQ(stack_space(&s, SQUARE), 0);
    CHECK_EQ(stack_ask(&s, 0), TP_OK);
    {
        struct space *before = s.space;

        s.space = NULL;
        CHECK_EQ(stack_space(&s, "{" DIM("x", "uniform", "[0, 1]") "}"), -1);
        CHECK_STR(s.err.text, "filter constraints: space: constraint 2, `x < "
                              "y`: column 5: no parameter 'y' (did you mean "
                              "'x'?)");
        space_free(s.space);
        s.space = before;
    }
    CHECK_EQ(stack_ask(&s, 1), TP_OK);
    CHECK(s.x[0] < s.x[1]);
    stack_close(&s);
}
