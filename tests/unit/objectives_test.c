/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/err.h"
#include "json.h"
#include "objectives/objectives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCURACY "{\"name\": \"accuracy\", \"direction\": \"maximize\"}"
#define LATENCY "{\"name\": \"ms\", \"direction\": \"minimize\"}"
#define BOTH "\"objectives\": [" ACCURACY ", " LATENCY "]"

static struct objectives *
read_good(const char *json)
{
    struct err err = {0};
    struct objectives *o = objectives_read(json, &err);

    if (o == NULL)
        CHECK_STR(err.text, json);
    return o;
}

static void
refuses(const char *json, const char *error)
{
    struct err err = {0};

    CHECK(objectives_read(json, &err) == NULL);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_STR(err.text, error);
}

/* What is read from `json` is written as `want`, and that as itself. */
static void
writes(const char *json, const char *want)
{
    for (int i = 0; i < 2; i++) {
        struct objectives *o = read_good(i == 0 ? json : want);
        char *text = objectives_text(o);

        CHECK_STR(text, want);
        free(text);
        objectives_free(o);
    }
}

TEST(objectives_are_written_in_one_spelling)
{
    writes("{" BOTH "}", "{" BOTH "}");
    writes("{\"scalarize\": {\"method\": \"chebyshev\", \"weights\": {\"ms\":"
           " 1}}, \"resultConstraints\": [], " BOTH "}",
           "{" BOTH "}");
    writes("{\"scalarize\": {\"weights\": {\"ms\": 2}}, \"resultConstraints\":"
           " [\" ms<=20.0 \", \"big one  >=  -1e3\"], " BOTH "}",
           "{" BOTH ", \"resultConstraints\": [\"ms <= 20\", \"big one >= "
           "-1000\"], \"scalarize\": {\"method\": \"chebyshev\", \"weights\": "
           "{\"accuracy\": 1.0, \"ms\": 2.0}}}");
    writes("{\"objectives\": [{\"goal\": 1, \"reference\": 0, \"direction\": "
           "\"minimize\", \"name\": \"default\"}], \"scalarize\": {\"method\": "
           "\"lexicographic\"}}",
           "{\"objectives\": [{\"name\": \"default\", \"direction\": "
           "\"minimize\", \"reference\": 0.0, \"goal\": 1.0}], \"scalarize\": "
           "{\"method\": \"lexicographic\"}}");
}

TEST(objectives_of_a_limit_alone_have_a_value_behind_theirs)
{
    struct objectives *o = read_good(
        "{" BOTH ", \"resultConstraints\": [\"mb <= 5\", \"ms <= 20\"]}");

    CHECK_EQ(o->n, 2);
    CHECK_EQ(o->n_values, 3);
    CHECK_STR(o->names[2], "mb");
    CHECK_EQ(o->limits[0].value, 2);
    CHECK_EQ(o->limits[1].value, 1);
    CHECK(isnan(o->items[0].reference) && isnan(o->items[1].goal));
    objectives_free(o);
}

TEST(objectives_that_are_wrong_are_refused_with_the_place)
{
    refuses("[]", "'[]', expected an object with 'objectives'");
    refuses("{", "byte 1: expected a key in double quotes, not the end");
    refuses("{}", "no 'objectives', expected a list of 1 to 8");
    refuses("{\"objectives\": 1}", "objectives: '1', expected a list");
    refuses("{\"objectives\": []}", "objectives: 0 of them, expected 1 to 8");
    refuses("{\"objectives\": [1,2,3,4,5,6,7,8,9]}",
            "objectives: 9 of them, expected 1 to 8");
    refuses("{\"objectivs\": []}",
            "unknown key 'objectivs', expected one of 'objectives', "
            "'resultConstraints' and 'scalarize' (did you mean "
            "'objectives'?)");
    refuses("{\"objectives\": [3]}", "objectives[0]: '3', expected an object "
                                     "with 'name' and 'direction'");
    refuses("{\"objectives\": [{\"direction\": \"minimize\"}]}",
            "objectives[0]: no 'name', expected a text");
    refuses("{\"objectives\": [{\"name\": \"a\"}]}",
            "objectives[0]: no 'direction', expected 'minimize' or 'maximize'");
    refuses("{\"objectives\": [{\"name\": \"a\", \"direction\": "
            "\"maximise\"}]}",
            "objectives[0]: direction: '\"maximise\"', expected one of "
            "'minimize' and 'maximize' (did you mean 'maximize'?)");
    refuses("{\"objectives\": [{\"name\": \"a\", \"direction\": 1}]}",
            "objectives[0]: direction: '1', expected one of 'minimize' and "
            "'maximize'");
    refuses("{\"objectives\": [{\"name\": \"a\", \"directon\": \"minimize\"}]}",
            "objectives[0]: unknown key 'directon', expected one of 'name', "
            "'direction', 'reference' and 'goal' (did you mean 'direction'?)");
    refuses("{\"objectives\": [{\"name\": \"a\", \"direction\": \"minimize\", "
            "\"goal\": \"low\"}]}",
            "objectives[0]: goal: '\"low\"', expected a finite number");
    refuses("{\"objectives\": [" ACCURACY ", " ACCURACY "]}",
            "objectives[1]: name: 'accuracy' is the name of objectives[0] "
            "already");
    refuses("{" BOTH ", \"objectives\": []}",
            "byte 105: the key 'objectives' stands twice");
}

static void
refuses_name(const char *name, const char *error)
{
    char json[512], want[512];

    snprintf(json, sizeof json,
             "{\"objectives\": [{\"name\": %s, \"direction\": \"minimize\"}]}",
             name);
    snprintf(want, sizeof want, "objectives[0]: name: '%s', expected %s", name,
             error);
    refuses(json, want);
}

TEST(objectives_of_a_bad_name_are_refused)
{
    refuses_name("1", "a text");
    refuses_name("\"\"", "a name of 1 to 64 bytes");
    refuses_name("\"a\\nb\"", "a name without control characters");
    refuses_name("\"a=b\"", "a name without '=', '<', '>' and ','");
    refuses_name("\" a\"", "a name without spaces around it");
}

TEST(objectives_names_have_64_bytes_at_most)
{
    for (int len = 64; len <= 65; len++) {
        char name[66] = "", json[160];
        struct err err = {0};
        struct objectives *o;

        memset(name, 'a', (size_t)len);
        snprintf(json, sizeof json,
                 "{\"objectives\": [{\"name\": \"%s\", \"direction\": "
                 "\"minimize\"}]}",
                 name);
        o = objectives_read(json, &err);
        CHECK((o != NULL) == (len == 64));
        if (o == NULL)
            CHECK_HAS(err.text, "expected a name of 1 to 64 bytes");
        objectives_free(o);
    }
}

static void
refuses_limits(const char *limits, const char *error)
{
    char json[512];

    snprintf(json, sizeof json, "{" BOTH ", \"resultConstraints\": %s}",
             limits);
    refuses(json, error);
}

TEST(objectives_limits_that_are_wrong_are_refused)
{
    const char *form = "\"NAME <= NUMBER\" or \"NAME >= NUMBER\"";
    static const char *const bad[] = {
        "ms",          "ms < 20",   "ms = 20",  "ms <= ", "ms <= 20ms",
        "ms <= 1e999", "ms <= NaN", "20 <= ms", "ms <",   "5 <= ms <= 20",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char limits[100], want[200];

        snprintf(limits, sizeof limits, "[\"%s\"]", bad[i]);
        snprintf(want, sizeof want,
                 "resultConstraints[0]: '\"%s\"', expected %s", bad[i], form);
        refuses_limits(limits, want);
    }
    refuses_limits("\"ms <= 20\"",
                   "resultConstraints: '\"ms <= 20\"', expected a list of "
                   "texts");
    refuses_limits("[\" <= 20\"]",
                   "resultConstraints[0]: '\" <= 20\"', expected a name of 1 "
                   "to 64 bytes");
    refuses_limits("[\"ms <= 20\", \"ms >= 21\"]",
                   "resultConstraints[1]: no value is within 'ms <= 20' and "
                   "'ms >= 21' at once");
    refuses_limits("[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]",
                   "resultConstraints: 17 of them, expected at most 16");
}

static void
refuses_scalarize(const char *scalarize, const char *error)
{
    char json[512];

    snprintf(json, sizeof json, "{" BOTH ", \"scalarize\": %s}", scalarize);
    refuses(json, error);
}

TEST(objectives_scalarize_that_is_wrong_is_refused)
{
    refuses_scalarize("\"weights\"", "scalarize: '\"weights\"', expected an "
                                     "object with 'method'");
    refuses_scalarize("{\"how\": 1}", "scalarize: unknown key 'how', expected "
                                      "one of 'method' and 'weights'");
    refuses_scalarize("{\"method\": \"chebychev\"}",
                      "scalarize.method: '\"chebychev\"', expected one of "
                      "'chebyshev', 'weights' and 'lexicographic' (did you "
                      "mean 'chebyshev'?)");
    refuses_scalarize("{\"weights\": []}",
                      "scalarize.weights: '[]', expected an object of "
                      "objectives and numbers");
    refuses_scalarize("{\"weights\": {\"acuracy\": 1}}",
                      "scalarize.weights: 'acuracy' is no objective, expected "
                      "'accuracy' and 'ms' (did you mean 'accuracy'?)");
    refuses_scalarize("{\"weights\": {\"ms\": -1}}",
                      "scalarize.weights: ms: '-1', expected a number of at "
                      "least 0");
    refuses_scalarize("{\"weights\": {\"ms\": 0, \"accuracy\": 0}}",
                      "scalarize.weights: all are 0, expected one above 0 at "
                      "least");
    refuses_scalarize("{\"method\": \"lexicographic\", \"weights\": {}}",
                      "scalarize.weights: lexicographic goes by the order of "
                      "the objectives, expected no weights");
}

/* ---- reported values ---- */

/* Takes what `json` is; the error's text, "" when it is taken. */
static const char *
take(const struct objectives *o, const char *json, struct objective_values *out,
     struct err *err)
{
    struct json *doc = json_parse(json, strlen(json), JSON_NAN, err);

    CHECK(doc != NULL);
    err_clear(err);
    if (objectives_take(o, json_root(doc), out, err) == 0)
        CHECK_STR(err->text, "");
    else
        CHECK_EQ(err->code, ERR_INPUT);
    json_free(doc);
    return err->text;
}

TEST(objectives_take_named_values)
{
    struct objectives *o =
        read_good("{" BOTH ", \"resultConstraints\": [\"ms <= 20\"]}");
    struct objective_values v;
    struct err err = {0};

    CHECK_STR(take(o, "{\"ms\": 30, \"accuracy\": 0.5, \"x\": \"\"}", &v, &err),
              "");
    CHECK(v.values[0] == 0.5 && v.values[1] == 30 && v.violation == 0.5);
    CHECK_STR(
        take(o, "\"{\\\"ms\\\": true, \\\"accuracy\\\": NaN}\"", &v, &err), "");
    CHECK(isnan(v.values[0]) && v.values[1] == 1 && v.violation == 0);
    CHECK_STR(take(o, "{\"ms\": NaN, \"accuracy\": -Infinity}", &v, &err), "");
    CHECK(v.values[0] == -INFINITY && isinf(v.violation));
    objectives_free(o);
}

TEST(objectives_take_says_what_is_missing)
{
    struct objectives *o = read_good("{" BOTH "}");
    struct objective_values v;
    struct err err = {0};

    CHECK_STR(take(o, "{\"ms\": 30, \"acuracy\": 0.5}", &v, &err),
              "no value 'accuracy', reported is 'ms' and 'acuracy' (did you "
              "mean 'acuracy'?)");
    CHECK_STR(take(o, "{}", &v, &err),
              "no value 'accuracy', reported is nothing");
    CHECK_STR(take(o, "0.5", &v, &err),
              "no value 'accuracy', reported is '0.5', expected an object "
              "with values by name");
    CHECK_STR(take(o, "\"good\"", &v, &err),
              "no value 'accuracy', reported is '\"good\"', expected an object "
              "with values by name");
    CHECK_STR(take(o, "\"\\\"good\\\"\"", &v, &err),
              "no value 'accuracy', reported is '\"\\\"good\\\"\"', expected "
              "an object with values by name");
    CHECK_STR(take(o, "{\"accuracy\": 1, \"ms\": \"12\"}", &v, &err),
              "value 'ms' is '\"12\"', expected a number");
    CHECK_STR(take(o, "{\"accuracy\": 1, \"ms\": null}", &v, &err),
              "value 'ms' is 'null', expected a number");
    objectives_free(o);
    o = read_good("{" BOTH ", \"resultConstraints\": [\"acuracy >= 0.5\"]}");
    CHECK_STR(take(o, "{\"accuracy\": 1, \"ms\": 30}", &v, &err),
              "no value 'acuracy', reported is 'accuracy' and 'ms' (did you "
              "mean 'accuracy'?)");
    objectives_free(o);
}

TEST(objectives_take_a_bare_number_as_default)
{
    struct objectives *o = read_good("{\"objectives\": [{\"name\": "
                                     "\"default\", \"direction\": "
                                     "\"minimize\"}]}");
    struct objective_values v;
    struct err err = {0};

    CHECK_STR(take(o, "7", &v, &err), "");
    CHECK(v.values[0] == 7);
    CHECK_STR(take(o, "{\"default\": 8}", &v, &err), "");
    CHECK(v.values[0] == 8);
    CHECK_STR(take(o, "\"9\"", &v, &err), "");
    CHECK(v.values[0] == 9);
    objectives_free(o);
}

/* ---- judging ---- */

TEST(objectives_violation_is_a_sum_of_relative_distances)
{
    struct objectives *o = read_good(
        "{" BOTH ", \"resultConstraints\": [\"ms <= 20\", \"accuracy >= 0.5\", "
        "\"mb <= 0\"]}");

    CHECK(objectives_violation(o, (double[]){0.5, 20, 0}) == 0);
    CHECK(objectives_violation(o, (double[]){0.25, 30, 3}) == 3.75);
    CHECK(isinf(objectives_violation(o, (double[]){0.25, INFINITY, 3})));
    CHECK(isinf(objectives_violation(o, (double[]){1, 1, NAN})));
    CHECK(objectives_violation(o, (double[]){INFINITY, -INFINITY, -9}) == 0);
    objectives_free(o);
}

static bool
dominates(const struct objectives *o, double a0, double a1, double b0,
          double b1)
{
    struct objective_values a = {.values = {a0, a1}}, b = {.values = {b0, b1}};

    a.violation = objectives_violation(o, a.values);
    b.violation = objectives_violation(o, b.values);
    CHECK(!objectives_dominates(o, &a, &a));
    CHECK(
        !(objectives_dominates(o, &a, &b) && objectives_dominates(o, &b, &a)));
    return objectives_dominates(o, &a, &b);
}

TEST(objectives_dominate_by_limits_first)
{
    struct objectives *o =
        read_good("{" BOTH ", \"resultConstraints\": [\"ms <= 20\"]}");

    CHECK(dominates(o, 0.9, 10, 0.8, 10));
    CHECK(dominates(o, 0.9, 10, 0.9, 11));
    CHECK(!dominates(o, 0.9, 11, 0.8, 10));
    CHECK(!dominates(o, 0.8, 10, 0.9, 11));
    CHECK(dominates(o, 0.1, 20, 0.9, 21));     /* within the limit */
    CHECK(dominates(o, 0.1, 22, 0.9, 23));     /* nearer to it */
    CHECK(dominates(o, -INFINITY, 1, NAN, 1)); /* any number is better */
    CHECK(!dominates(o, NAN, 1, 0.5, 2));
    CHECK(!dominates(o, NAN, 1, NAN, 1));
    objectives_free(o);
}

TEST(objectives_are_reached_when_all_goals_are)
{
    struct objectives *o = read_good(
        "{\"objectives\": [{\"name\": \"a\", \"direction\": \"maximize\", "
        "\"goal\": 0.9}, {\"name\": \"b\", \"direction\": \"minimize\"}], "
        "\"resultConstraints\": [\"b <= 5\"]}");
    struct objective_values v = {.values = {0.9, 5}};
    struct objectives *without = read_good("{" BOTH "}");

    CHECK(objectives_reached(o, &v));
    v.values[0] = 0.89;
    CHECK(!objectives_reached(o, &v));
    v.values[0] = NAN;
    CHECK(!objectives_reached(o, &v));
    v.values[0] = 1;
    v.violation = 0.2;
    CHECK(!objectives_reached(o, &v));
    v.violation = 0;
    CHECK(!objectives_reached(without, &v));
    objectives_free(o);
    objectives_free(without);
}
