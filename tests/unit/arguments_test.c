/* SPDX-License-Identifier: MIT */
#include "plugin/arguments.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "t.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tp_arg table[] = {
    {"count", TP_ARG_INT, 0, "20", 1, 100, NULL, "an integer"},
    {"net.rate", TP_ARG_DOUBLE, 1, "0.5", 0, 1, NULL, "a number"},
    {"on", TP_ARG_BOOL, 0, "true", 0, 0, NULL, "a bool"},
    {"net.deep.mode", TP_ARG_STRING, 0, "\"best\"", 0, 0, "best|mean|worst",
     "a word"},
    {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL, "a seed"},
    {"path", TP_ARG_STRING, 1, "null", 0, 0, NULL, "any text"},
    {"any", TP_ARG_INT, 0, "-7", 0, 0, NULL, "any integer"},
};
#define N (sizeof table / sizeof *table)

static const struct tp_arg required[] = {
    {"mode", TP_ARG_STRING, 0, NULL, 0, 0, "a|b", "has to be given"},
    {"least", TP_ARG_DOUBLE, 0, "1", 1, INFINITY, NULL, "bounded below"},
};

struct result {
    struct arguments *args;
    char problems[4096];
    char json[1024];
};

static void
parse(struct result *r, const struct tp_arg *args, size_t n, const char *text)
{
    struct problems problems;
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), 0, &err);
    struct buf out;

    CHECK_STR(err.text, "");
    problems_init(&problems);
    buf_init(&out, 4096);
    r->args = arguments_parse(args, n, json_root(doc), "classArgs", &problems);
    CHECK((r->args == NULL) == (problems.count > 0));
    snprintf(r->problems, sizeof r->problems, "%s", buf_text(&problems.lines));
    if (r->args != NULL)
        arguments_write(r->args, &out);
    snprintf(r->json, sizeof r->json, "%s", buf_text(&out));
    buf_fini(&out);
    problems_fini(&problems);
    json_free(doc); /* values have to be copies */
}

/* What is wrong with `text`. */
static void
check_wrong(const char *text, const char *want)
{
    struct result r;

    parse(&r, table, N, text);
    CHECK(r.args == NULL);
    CHECK_STR(r.problems, want);
}

#define DEFAULTS                                                     \
    "{\"count\": 20, \"net\": {\"rate\": 0.5, \"deep\": {\"mode\": " \
    "\"best\"}}, \"on\": true, \"seed\": null, \"path\": null, \"any\": -7}"

TEST(arguments_fill_in_defaults)
{
    static const char *const none[] = {"null", "{}", "{\"net\": {}}",
                                       "{\"net\": {\"deep\": null}}"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const struct tp_value *v;
        uint64_t seed;
        struct result r;

        parse(&r, table, N, none[i]);
        CHECK_STR(r.problems, "");
        v = arguments_values(r.args);
        CHECK(v[0].integer == 20 && v[0].number == 20 && v[1].number == 0.5);
        CHECK(v[2].integer == 1 && v[4].is_null && v[5].is_null);
        CHECK_STR(v[3].text, "best");
        CHECK(!arguments_seed(r.args, &seed));
        CHECK_STR(r.json, DEFAULTS);
        arguments_free(r.args);
    }
}

TEST(arguments_read_every_type_and_write_it_again)
{
    static const char text[] =
        "{\"path\": \"a\\u00e9b\", \"net\": {\"deep\": {\"mode\": \"worst\"}, "
        "\"rate\": 1}, \"on\": false, \"seed\": 9223372036854775807, "
        "\"count\": 1, \"any\": -9223372036854775808}";
    const struct tp_value *v;
    struct result r, again;
    uint64_t seed = 0;

    parse(&r, table, N, text);
    CHECK_STR(r.problems, "");
    v = arguments_values(r.args);
    CHECK(v[0].integer == 1 && v[1].number == 1 && v[2].integer == 0);
    CHECK(v[6].integer == INT64_MIN);
    CHECK_STR(v[3].text, "worst");
    CHECK_STR(v[5].text, "a\xc3\xa9"
                         "b");
    CHECK(arguments_seed(r.args, &seed));
    CHECK(seed == INT64_MAX);
    parse(&again, table, N, r.json);
    CHECK_STR(again.json, r.json);
    arguments_free(r.args);
    arguments_free(again.args);
}

TEST(arguments_take_choices_in_any_case)
{
    static const struct tp_arg cased[] = {
        {"mode", TP_ARG_STRING, 0, NULL, 0, 0, "Best|best|WORST", "a word"}};
    static const char *const texts[][2] = {{"best", "best"},
                                           {"Best", "Best"},
                                           {"BEST", "Best"},
                                           {"worst", "WORST"}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct result r;
        char text[40];

        snprintf(text, sizeof text, "{\"mode\": \"%s\"}", texts[i][0]);
        parse(&r, cased, 1, text);
        CHECK_STR(r.problems, "");
        CHECK_STR(arguments_values(r.args)[0].text, texts[i][1]);
        arguments_free(r.args);
    }
}

TEST(arguments_refuse_wrong_values_by_name)
{
    check_wrong("{\"count\": 0}", "classArgs.count: is 0, expected an integer, "
                                  "at least 1, at most 100\n");
    check_wrong("{\"count\": 5.0}",
                "classArgs.count: is 5.0, expected an integer, at least 1, at "
                "most 100\n");
    check_wrong("{\"count\": null}",
                "classArgs.count: is null, expected an integer, at least 1, "
                "at most 100\n");
    check_wrong("{\"net\": {\"rate\": 1.5}}",
                "classArgs.net.rate: is 1.5, expected a number, at least 0.0, "
                "at most 1.0, or null\n");
    check_wrong("{\"on\": 1}", "classArgs.on: is 1, expected true or false\n");
    check_wrong("{\"net\": {\"deep\": {\"mode\": \"bets\"}}}",
                "classArgs.net.deep.mode: is \"bets\", expected best or mean "
                "or worst (did you mean 'best'?)\n");
    check_wrong("{\"seed\": -1}",
                "classArgs.seed: is -1, expected an integer from 0 to "
                "9223372036854775807, or null\n");
    check_wrong("{\"seed\": 9223372036854775808}",
                "classArgs.seed: is 9223372036854775808, expected an integer "
                "from 0 to 9223372036854775807, or null\n");
    check_wrong("{\"path\": \"a\\u0000b\"}",
                "classArgs.path: has a NUL in it\n");
    check_wrong("[]", "classArgs: is [], expected an object\n");
    check_wrong("{\"net\": 3}", "classArgs.net: is 3, expected an object\n");
}

TEST(arguments_refuse_unknown_names_with_the_nearest)
{
    check_wrong("{\"cuont\": 1}",
                "classArgs.cuont: unknown argument (did you mean 'count'?); "
                "there are: count, net.rate, on, net.deep.mode, seed, path, "
                "any\n");
    check_wrong("{\"net\": {\"rat\": 1}}",
                "classArgs.net.rat: unknown argument (did you mean "
                "'net.rate'?); there are: count, net.rate, on, net.deep.mode, "
                "seed, path, any\n");
    check_wrong(
        "{\"mdoe\": 1}",
        "classArgs.mdoe: unknown argument (did you mean 'net.deep.mode'?); "
        "there are: count, net.rate, on, net.deep.mode, seed, path, "
        "any\n");
    check_wrong("{\"rate\": 1}",
                "classArgs.rate: unknown argument (did you mean 'net.rate'?); "
                "there are: count, net.rate, on, net.deep.mode, seed, path, "
                "any\n");
    check_wrong("{\"nets\": {\"rate\": 1}}",
                "classArgs.nets: unknown argument (did you mean 'net'?); "
                "there are: count, net.rate, on, net.deep.mode, seed, path, "
                "any\n");
    check_wrong("{\"net.rate\": 1}",
                "classArgs.net.rate: unknown argument; what stands behind a "
                "dot is a key in an object\n");
}

TEST(arguments_tell_every_problem_at_once)
{
    struct result r;

    check_wrong("{\"count\": 0, \"on\": 2, \"net\": {\"rate\": []}}",
                "classArgs.count: is 0, expected an integer, at least 1, at "
                "most 100\n"
                "classArgs.on: is 2, expected true or false\n"
                "classArgs.net.rate: is [], expected a number, at least 0.0, "
                "at most 1.0, or null\n");
    parse(&r, required, 2, "{\"least\": 0}");
    CHECK_STR(r.problems,
              "classArgs.least: is 0, expected a number, at least 1.0\n"
              "classArgs.mode: missing, expected a or b\n");
    parse(&r, NULL, 0, "{\"x\": 0}");
    CHECK_STR(r.problems, "classArgs.x: unknown argument; there are none\n");
    parse(&r, NULL, 0, "{}");
    CHECK_STR(r.json, "{}");
    arguments_free(r.args);
}

TEST(arguments_survive_huge_keys_and_values)
{
    struct result r;
    struct buf b;

    buf_init(&b, 100000);
    buf_add_text(&b, "{\"path\": 0, \"net\": {\"");
    for (int i = 0; i < 20000; i++)
        buf_add_text(&b, "x");
    buf_add_text(&b, "\": 1}, \"count\": \"");
    for (int i = 0; i < 20000; i++)
        buf_add_text(&b, "y");
    buf_add_text(&b, "\"}");
    parse(&r, table, N, buf_text(&b));
    CHECK(r.args == NULL);
    CHECK_HAS(r.problems, "classArgs.path: is 0, expected a string, or null\n");
    CHECK_HAS(r.problems, "xxx: unknown argument\n");
    CHECK_HAS(r.problems, "classArgs.count: is ");
    buf_fini(&b);
}

static void
check_table(struct tp_arg arg, const char *want)
{
    struct tp_arg two[] = {
        {"net.rate", TP_ARG_INT, 0, "1", 0, 0, NULL, "first"}, arg};
    struct err err = {0};

    CHECK_EQ(arguments_check(two, 2, &err), want[0] == '\0' ? 0 : -1);
    CHECK_STR(err.text, want);
}

TEST(arguments_check_the_table_of_a_plugin)
{
    check_table((struct tp_arg){"b", 1, 0, "1", 0, 0, NULL, "d"}, "");
    check_table((struct tp_arg){"b", 1, 0, NULL, 0, 0, NULL, "d"}, "");
    check_table((struct tp_arg){NULL, 1, 0, "1", 0, 0, NULL, "d"},
                "argument 1: .name is ''");
    check_table((struct tp_arg){"a..b", 1, 0, "1", 0, 0, NULL, "d"},
                "argument 1: .name is 'a..b'");
    check_table((struct tp_arg){"net", 1, 0, "1", 0, 0, NULL, "d"},
                "argument 'net': collides with 'net.rate'");
    check_table((struct tp_arg){"net.rate", 1, 0, "1", 0, 0, NULL, "d"},
                "argument 'net.rate': collides with 'net.rate'");
    check_table((struct tp_arg){"net.rat", 1, 0, "1", 0, 0, NULL, "d"}, "");
    check_table((struct tp_arg){"b", 9, 0, "1", 0, 0, NULL, "d"},
                "argument 'b': .type is 9, expected a TP_ARG_...");
    check_table((struct tp_arg){"b", 1, 0, "1", 3, 2, NULL, "d"},
                "argument 'b': no value lies within 3..2");
    check_table((struct tp_arg){"b", 1, 0, "9", 1, 2, NULL, "d"},
                "argument 'b': default: is 9, expected an integer, at least "
                "1, at most 2");
    check_table((struct tp_arg){"b", 1, 0, "1", 0, 0, NULL, NULL},
                "argument 'b': .doc has to be one line");
    check_table((struct tp_arg){"b", 4, 0, "best", 0, 0, NULL, "d"},
                "argument 'b': default 'best': byte 0: expected a value, "
                "not 'best'");
}
