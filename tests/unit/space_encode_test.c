/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static void
check_encode(const char *entry, const char *value, double want)
{
    char text[LINE_MAX_BYTES];
    struct space *s;
    struct err err = {0};
    double x;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    snprintf(text, sizeof text, "{'other': [], 'p': %s}", value);
    help_encode(s, text, &x, &err);
    CHECK_STR(err.text, "");
    if (!(fabs(x - want) < 1e-12))
        printf("# %s %s: %.17g\n", entry, value, x);
    CHECK(fabs(x - want) < 1e-12);
    space_free(s);
}

static void
check_not_encoded(const char *entry, const char *value, const char *want)
{
    char text[LINE_MAX_BYTES];
    struct space *s;
    struct err err = {0};
    double x;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    snprintf(text, sizeof text, "{'p': %s}", value);
    CHECK_EQ(help_encode(s, text, &x, &err), -1);
    CHECK_STR(err.text, want);
    CHECK_EQ(err.code, ERR_INPUT);
    space_free(s);
}

TEST(space_encode_accepts)
{
    check_encode("{'_type': 'choice', '_value': ['a', 'b', 'b']}", "'b'", 1);
    check_encode("{'_type': 'choice', '_value': ['a', 1, 1.0]}", "1.0", 2);
    check_encode("{'_type': 'choice', '_value': ['a', 1, 2]}", "1.0", 1);
    check_encode("{'_type': 'choice', '_value': [{'x': 0, 'y': 1}, [0]]}",
                 "{'y': 1.0, 'x': 0}", 0);
    check_encode("{'_type': 'randint', '_value': [-2, 3]}", "-2", 0);
    check_encode("{'_type': 'randint', '_value': [-2, 3]}", "2.0", 4);
    check_encode("{'_type': 'qrandint', '_value': [8, 128, 8]}", "96", 11);
    check_encode("{'_type': 'lograndint', '_value': [1, 9]}", "1.0", 0);
    check_encode("{'_type': 'uniform', '_value': [0, 1]}", "1", 1);
    check_encode("{'_type': 'uniform', '_value': [0.1, 0.3]}",
                 "0.30000000000000004", 0.3);
    check_encode("{'_type': 'uniform', '_value': [0.1, 0.3]}",
                 "0.09999999999999999", 0.1);
    check_encode("{'_type': 'quniform', '_value': [100, 1000, 3]}", "99", 100);
    check_encode("{'_type': 'quniform', '_value': [0, 1, 0.6]}", "1.2", 1);
    check_encode("{'_type': 'quniform', '_value': [0, 10, 5]}", "3", 3);
    check_encode("{'_type': 'loguniform', '_value': [0.001, 1]}", "0.1",
                 -2.302585092994046);
    check_encode("{'_type': 'loguniform', '_value': [0.001, 1]}", "0.001",
                 -6.907755278982137);
    check_encode("{'_type': 'normal', '_value': [0, 1]}", "-1e9", -1e9);
    check_encode("{'_type': 'qlognormal', '_value': [0, 1, 4]}", "0.0", 0);
}

TEST(space_encode_names_path_value_and_range)
{
    check_not_encoded("{'_type': 'choice', '_value': ['adam', 'sgd']}",
                      "'adma'",
                      "p: \"adma\" is none of the choices, expected one of "
                      "\"adam\", \"sgd\" (did you mean 'adam'?)");
    check_not_encoded("{'_type': 'choice', '_value': [1, null]}", "true",
                      "p: true is none of the choices, expected one of 1, "
                      "null");
    check_not_encoded("{'_type': 'choice', '_value': [null]}", "'None'",
                      "p: \"None\" is none of the choices, expected one of "
                      "null ('None' is a text here: write null for Python's "
                      "None)");
    check_not_encoded("{'_type': 'choice', '_value': [1, [2]]}", "2",
                      "p: 2 is none of the choices, expected one of 2");
    check_not_encoded(
        "{'_type': 'choice', '_value': [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "0",
        "p: 0 is none of the choices, expected one of 9");
    check_not_encoded("{'_type': 'randint', '_value': [-2, 3]}", "3",
                      "p: is 3, expected an integer within [-2, 2]");
    check_not_encoded("{'_type': 'randint', '_value': [-2, 3]}", "0.5",
                      "p: is 0.5, expected an integer within [-2, 2]");
    check_not_encoded("{'_type': 'randint', '_value': [-2, 3]}", "NaN",
                      "p: is NaN, expected an integer within [-2, 2]");
    check_not_encoded("{'_type': 'qrandint', '_value': [1, 10, 2]}", "4",
                      "p: is 4, expected an integer within [1, 9] in steps of "
                      "2");
    check_not_encoded("{'_type': 'lograndint', '_value': [2, 10]}", "10",
                      "p: is 10, expected an integer within [2, 9]");
    check_not_encoded("{'_type': 'lograndint', '_value': [2, 10]}", "2.5",
                      "p: is 2.5, expected an integer within [2, 9]");
    check_not_encoded("{'_type': 'uniform', '_value': [0, 1]}", "1.1",
                      "p: is 1.1, expected a number within [0.0, 1.0]");
    check_not_encoded("{'_type': 'uniform', '_value': [0, 1]}", "true",
                      "p: is true, expected a number within [0.0, 1.0]");
    check_not_encoded("{'_type': 'uniform', '_value': [0, 1]}", "NaN",
                      "p: is NaN, expected a number within [0.0, 1.0]");
    check_not_encoded("{'_type': 'quniform', '_value': [0, 10, 2]}", "11.5",
                      "p: is 11.5, expected a number within [0.0, 10.0]");
    check_not_encoded("{'_type': 'loguniform', '_value': [1, 2]}", "[1]",
                      "p: is an array, expected a number within [1.0, 2.0]");
    check_not_encoded("{'_type': 'lognormal', '_value': [1, 2]}", "0",
                      "p: is 0, expected a finite number > 0");
    check_not_encoded("{'_type': 'qlognormal', '_value': [1, 2, 1]}", "-1",
                      "p: is -1, expected a finite number > 0");
    check_not_encoded("{'_type': 'normal', '_value': [1, 2]}", "'x'",
                      "p: is \"x\", expected a finite number");
}

TEST(space_encode_of_nested)
{
    struct space *s = help_space(
        "{'d': {'_type': 'choice', '_value': ["
        " {'_name': 'a', 'u': {'_type': 'uniform', '_value': [0, 1]},"
        "  'w': {'_type': 'uniform', '_value': [0, 1]}},"
        " {'_name': 'b'},"
        " {'_name': 'a', 'u': {'_type': 'uniform', '_value': [2, 3]}}]}}");
    double x[4];
    struct err err;

    CHECK_EQ(help_encode(s, "{'d': {'u': 0.5, '_name': 'a', 'w': 1}}", x, &err),
             0);
    CHECK(x[0] == 0 && x[1] == 0.5 && x[2] == 1 && isnan(x[3]));
    CHECK_EQ(help_encode(s, "{'d': {'_name': 'a', 'u': 2.5}}", x, &err), 0);
    CHECK(x[0] == 2 && isnan(x[1]) && isnan(x[2]) && x[3] == 2.5);
    CHECK_EQ(help_encode(s, "{'d': {'_name': 'b', 'u': 2.5}}", x, &err), 0);
    CHECK(x[0] == 1 && isnan(x[1]) && isnan(x[2]) && isnan(x[3]));
    CHECK_EQ(help_encode(s, "{'d': {'_name': 'a', 'u': 5}}", x, &err), -1);
    CHECK_STR(err.text, "d[0]/u: is 5, expected a number within [0.0, 1.0]");
    CHECK_EQ(help_encode(s, "{'d': {'_name': 'a', 'u': 1}}", x, &err), -1);
    CHECK_STR(err.text, "d/w: is missing, expected a value of type uniform");
    CHECK_EQ(help_encode(s, "{'d': {'_name': 'c'}}", x, &err), -1);
    CHECK_HAS(err.text, "d: _name \"c\" is none of the choices, expected one "
                        "of \"a\", \"b\"");
    CHECK_EQ(help_encode(s, "{'d': 'a'}", x, &err), -1);
    CHECK_STR(err.text, "d: is \"a\", expected an object with _name");
    CHECK_EQ(help_encode(s, "{'d': {'u': 1}}", x, &err), -1);
    CHECK_STR(err.text, "d: lacks _name, expected one of \"a\", \"b\", "
                        "\"a\"");
    CHECK_EQ(help_encode(s, "{'D': 'a'}", x, &err), -1);
    CHECK_STR(err.text,
              "d: is missing, expected a value of type choice (is it 'D'?)");
    CHECK_EQ(help_encode(s, "[]", x, &err), -1);
    CHECK_HAS(err.text, "parameters: is an array, expected an object");
    space_free(s);
}

/* Returns err's text, "" for none. */
static const char *
complete(const struct space *s, const char *parameters, uint64_t seed,
         double *x, struct err *err)
{
    struct json *doc = help_json(parameters);

    int rc;

    *err = (struct err){0};
    rc = space_complete(s, json_root(doc), seed, x, err);
    CHECK_EQ(rc, err->code == ERR_NONE ? 0 : -1);
    json_free(doc);
    return err->text;
}

TEST(space_completes_what_is_missing)
{
    struct space *s = help_space(
        "{'lr': {'_type': 'uniform', '_value': [0, 1]},"
        " 'd': {'_type': 'choice', '_value': ["
        " {'_name': 'a', 'u': {'_type': 'uniform', '_value': [0, 1]}},"
        " {'_name': 'b', 'v': {'_type': 'uniform', '_value': [2, 3]},"
        "  'w': {'_type': 'uniform', '_value': [4, 5]}}]}}");
    double x[5], y[5], drawn[5];
    struct err err;

    /* Nothing is given: a draw from the prior. */
    CHECK_STR(complete(s, "{}", 7, x, &err), "");
    space_sample(s, 7, 0, drawn);
    CHECK(memcmp(x, drawn, sizeof x) == 0);
    /* What is given stays, below the element that is named. */
    for (uint64_t seed = 0; seed < 20; seed++) {
        CHECK_STR(complete(s, "{'d': {'_name': 'b', 'w': 4.5}}", seed, x, &err),
                  "");
        CHECK(x[0] >= 0 && x[0] <= 1 && x[1] == 1 && isnan(x[2]));
        CHECK(x[3] >= 2 && x[3] <= 3 && x[4] == 4.5);
    }
    /* By the seed alone. */
    CHECK_STR(complete(s, "{'lr': 0.5}", 1, x, &err), "");
    CHECK_STR(complete(s, "{'lr': 0.5}", 1, y, &err), "");
    CHECK(memcmp(x, y, sizeof x) == 0);
    CHECK_STR(complete(s, "{'lr': 2}", 1, x, &err),
              "lr: is 2, expected a number within [0.0, 1.0]");
    CHECK_STR(complete(s, "{'lrr': 1}", 1, x, &err),
              "lrr: the search space has no such parameter (did you mean "
              "'lr'?)");
    CHECK_STR(complete(s, "{'d': {'_name': 'a', 'v': 2.5}}", 1, x, &err),
              "d/v: the search space has no such parameter here (write "
              "{\"d\": {\"_name\": \"b\", \"v\": ...}})");
    CHECK_STR(complete(s, "{'v': 2.5}", 1, x, &err),
              "v: the search space has no such parameter (write "
              "{\"d\": {\"_name\": \"b\", \"v\": ...}})");
    CHECK_STR(complete(s, "{'d': {'_name': 'b', 'momentum': 1}}", 1, x, &err),
              "d/momentum: the search space has no such parameter here "
              "(expected v, w)");
    CHECK_STR(complete(s, "{'d': {'v': 2.5}}", 1, x, &err),
              "d: lacks _name, expected one of \"a\", \"b\"");
    space_free(s);
}

TEST(space_projects_by_value)
{
    struct space *a =
        help_space("{'n': {'_type': 'choice', '_value': ['x', 'y', 'z']},"
                   " 'r': {'_type': 'randint', '_value': [0, 10]},"
                   " 'lr': {'_type': 'loguniform', '_value': [0.01, 1]}}");
    struct space *b =
        help_space("{'lr': {'_type': 'uniform', '_value': [0.1, 1]},"
                   " 'r': {'_type': 'randint', '_value': [5, 20]},"
                   " 'n': {'_type': 'choice', '_value': ['z', 'x']}}");
    struct space *wider =
        help_space("{'lr': {'_type': 'uniform', '_value': [0.1, 1]}}");
    double x[] = {2, 7, 0}, y[3];
    struct err err;

    CHECK_EQ(space_project(a, x, b, y, &err), 0);
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 0);
    x[0] = 1;
    CHECK_EQ(space_project(a, x, b, y, &err), -1);
    CHECK_HAS(err.text, "n: \"y\" is none of the choices");
    x[0] = 0;
    x[1] = 4;
    CHECK_EQ(space_project(a, x, b, y, &err), -1);
    CHECK_STR(err.text, "r: is 4, expected an integer within [5, 19]");
    CHECK_EQ(space_project(a, x, wider, y, &err), -1);
    CHECK_STR(err.text, "parameters: 3 are active, expected the 1 that the "
                        "new search space has");
    y[0] = 0.5;
    CHECK_EQ(space_project(wider, y, a, x, &err), -1);
    CHECK_STR(err.text, "n: is missing, expected a value of type choice");
    y[0] = NAN;
    CHECK_EQ(space_project(wider, y, wider, x, &err), -1);
    space_free(a);
    space_free(b);
    space_free(wider);
}
