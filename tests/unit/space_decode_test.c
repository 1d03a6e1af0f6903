/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

/* NNI's own case: test/ut/sdk/test_hpo_formatting.py. */
static const char nni_space[] =
    "{'pool': {'_type': 'choice', '_value': ['max', 'min', 'avg']},"
    " 'kernel': {'_type': 'randint', '_value': [2, 8]},"
    " 'D': {'_type': 'choice', '_value': ["
    "  {'_name': 'UNIFORM',"
    "   'dropout': {'_type': 'uniform', '_value': [0.5, 0.9]},"
    "   'hidden': {'_type': 'quniform', '_value': [100, 1000, 3]},"
    "   'U_lr': {'_type': 'loguniform', '_value': [0.0001, 0.1]},"
    "   'U_batch': {'_type': 'qloguniform', '_value': [16, 128, 0.725]}},"
    "  {'_name': 'NORMAL',"
    "   'dropout': {'_type': 'normal', '_value': [0.7, 0.2]},"
    "   'hidden': {'_type': 'qnormal', '_value': [500, 200, 3]},"
    "   'N_lr': {'_type': 'lognormal', '_value': [-6, 3]},"
    "   'N_batch': {'_type': 'qlognormal', '_value': [3.5, 1.2, 0.725]}},"
    "  {'_name': 'EMPTY'}]},"
    " 'not_nested': {'_type': 'choice', '_value': ["
    "  {'x': 0, 'y': 0}, {'x': 1, 'y': 2}]}}";

static const struct {
    double x[12];
    const char *json; /* exp(-4.6) is 0.010051835744633586 */
} nni_cases[] = {
    {{0, 5, 0, 0.7, 100.1, -4.6, 4.0, NAN, NAN, NAN, NAN, 0},
     "{'pool': 'max', 'kernel': 7, 'D': {'_name': 'UNIFORM', 'dropout': 0.7, "
     "'hidden': 100.0, 'U_lr': 0.010051835744633586, 'U_batch': 54.375}, "
     "'not_nested': {'x': 0, 'y': 0}}"},
    {{2, 0, 1, NAN, NAN, NAN, NAN, 0.7, 100.1, -4.6, 4.0, 1},
     "{'pool': 'avg', 'kernel': 2, 'D': {'_name': 'NORMAL', 'dropout': 0.7, "
     "'hidden': 99.0, 'N_lr': 0.010051835744633586, 'N_batch': 54.375}, "
     "'not_nested': {'x': 1, 'y': 2}}"},
    {{1, 1, 2, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1},
     "{'pool': 'min', 'kernel': 3, 'D': {'_name': 'EMPTY'}, "
     "'not_nested': {'x': 1, 'y': 2}}"},
};

/* Both with double quotes. */
static void
check_json(const char *got, const char *quoted)
{
    char want[LINE_MAX_BYTES];

    snprintf(want, sizeof want, "%s", quoted);
    for (char *p = want; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    CHECK_STR(got, want);
}

TEST(space_decodes_nni_formatting_vectors)
{
    struct space *s = help_space(nni_space);
    static const uint64_t sizes[] = {3, 6, 3, 0, 0, 0, 0, 0, 0, 0, 0, 2};

    CHECK_EQ(space_dims(s)->n_dims, 12);
    for (size_t i = 0; i < 12; i++)
        CHECK_EQ(TP_DIM(space_dims(s), i)->n_choices, sizes[i]);
    for (size_t k = 0; k < 3; k++)
        check_json(help_decode(s, nni_cases[k].x).text, nni_cases[k].json);
    space_free(s);
}

TEST(space_encodes_nni_formatting_vectors)
{
    struct space *s = help_space(nni_space);
    static const double rounded[3][12] = {
        {0, 5, 0, 0.7, 100.0, -4.6, 3.995904489408848, NAN, NAN, NAN, NAN, 0},
        {2, 0, 1, NAN, NAN, NAN, NAN, 0.7, 99.0, -4.6, 3.995904489408848, 1},
        {1, 1, 2, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1}};

    for (size_t k = 0; k < 3; k++) {
        double x[12];

        CHECK_EQ(help_encode(s, nni_cases[k].json, x, NULL), 0);
        for (size_t i = 0; i < 12; i++)
            CHECK(isnan(rounded[k][i]) ? isnan(x[i])
                                       : fabs(x[i] - rounded[k][i]) < 1e-9);
        check_json(help_decode(s, x).text, nni_cases[k].json);
    }
    space_free(s);
}

/* One dimension "p": what its coordinates become. */
static void
check_values(const char *entry, const double *x, size_t n, const char *want)
{
    char text[LINE_MAX_BYTES], got[LINE_MAX_BYTES] = "";
    struct space *s;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    for (size_t i = 0; i < n; i++) {
        struct line line = help_decode(s, &x[i]);

        line.text[strlen(line.text) - 1] = '\0';
        strcat(got, i == 0 ? "" : " ");
        strcat(got, line.text + strlen("{\"p\": "));
    }
    CHECK_STR(got, want);
    space_free(s);
}

#define VALUES(entry, want, ...)                       \
    check_values(entry, (const double[]){__VA_ARGS__}, \
                 sizeof(double[]){__VA_ARGS__} / sizeof(double), want)

/* A trial whose program tells 96 from 96.0 finds 96, while the wire has 96.0.
 */
static void
check_given(const char *space, const char *parameters, const char *want)
{
    struct space *s = help_space(space);
    struct json *doc = help_json(parameters);
    struct buf out;

    buf_init(&out, LINE_MAX_BYTES);
    space_write_given(s, json_root(doc), &out);
    check_json(buf_text(&out), want);
    buf_fini(&out);
    json_free(doc);
    space_free(s);
}

TEST(space_gives_integers_where_bounds_and_step_are_whole)
{
    check_given("{'a': {'_type': 'quniform', '_value': [8.0, 128, 8]},"
                " 'b': {'_type': 'quniform', '_value': [8, 127.5, 8]},"
                " 'c': {'_type': 'quniform', '_value': [0, 2, 0.5]},"
                " 'd': {'_type': 'qloguniform', '_value': [1, 1e6, 1]},"
                " 'e': {'_type': 'uniform', '_value': [0, 9]},"
                " 'f': {'_type': 'qnormal', '_value': [0, 9.5, 2]},"
                " 'g': {'_type': 'qlognormal', '_value': [0, 90, 2]},"
                " 'h': {'_type': 'randint', '_value': [0, 9]},"
                " 'i': {'_type': 'choice', '_value': [1.0, 2]}}",
                "{'b': 96.0, 'a': 96.0, 'c': 1.0, 'd': 100000.0, 'e': 3.0, "
                "'f': -0.0, 'g': 1e+16, 'h': 3.0, 'i': 1.0, 'z': 1.0}",
                "{'b': 96.0, 'a': 96, 'c': 1.0, 'd': 100000, 'e': 3.0, "
                "'f': 0, 'g': 1e+16, 'h': 3, 'i': 1.0, 'z': 1.0}");
}

TEST(space_gives_integers_in_nested_choices)
{
    static const char space[] =
        "{'net': {'_type': 'choice', '_value': ["
        "  {'_name': 'a', 'n': {'_type': 'quniform', '_value': [0, 9, 0.5]}},"
        "  {'_name': 'b', 'n': {'_type': 'quniform', '_value': [0, 9, 1]},"
        "   'm': {'_type': 'choice', '_value': ["
        "     {'_name': 1, 'n': {'_type': 'quniform', '_value': [0, 9, 3]}}]"
        "   }}]},"
        " 'n': {'_type': 'uniform', '_value': [0, 1]}}";

    check_given(space, "{'net': {'_name': 'a', 'n': 3.0}, 'n': 1.0}",
                "{'net': {'_name': 'a', 'n': 3.0}, 'n': 1.0}");
    check_given(
        space,
        "{'net': {'_name': 'b', 'n': 3.0, 'm': {'_name': 1, 'n': 3.0}}, "
        "'n': 1.0}",
        "{'net': {'_name': 'b', 'n': 3, 'm': {'_name': 1, 'n': 3}}, "
        "'n': 1.0}");
    /* A tuner of one's own may give what the space does not know. */
    check_given(space, "{'net': {'_name': 'c', 'n': 3.0}, 'n': [3.0]}",
                "{'net': {'_name': 'c', 'n': 3.0}, 'n': [3.0]}");
    check_given(space, "[3.0]", "[3.0]");
}

static void
count_element(void *ctx, struct jval element)
{
    size_t *n = ctx;

    (void)element;
    ++*n;
}

TEST(space_finds_parameters_by_the_names_that_trials_find)
{
    static const struct {
        const char *name;
        bool found;
        size_t elements;
    } cases[] = {{"lr", true, 0},         {"l", false, 0},
                 {"lr/", false, 0},       {"lrr", false, 0},
                 {"net", false, 0},       {"net/", false, 0},
                 {"net/_name", true, 2},  {"net/units", true, 3},
                 {"net/depth", false, 0}, {"net[0]/units", false, 0},
                 {"act", true, 2},        {"", false, 0}};
    struct space *s = help_space(
        "{'lr': {'_type': 'uniform', '_value': [0, 1]},"
        " 'act': {'_type': 'choice', '_value': ['relu', 'tanh']},"
        " 'net': {'_type': 'choice', '_value': ["
        "  {'_name': 'a', 'units': {'_type': 'choice', '_value': [1, 2]}},"
        "  {'_name': 'b', 'units': {'_type': 'choice', '_value': [3]}}]}}");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 0;

        CHECK_EQ(space_find(s, cases[i].name, strlen(cases[i].name),
                            count_element, &n),
                 cases[i].found);
        CHECK_EQ(n, cases[i].elements);
    }
    CHECK(space_find(s, "lr and more", 2, NULL, NULL));
    space_free(s);
}

TEST(space_rounds_half_to_even_then_clips)
{
    VALUES("{'_type': 'quniform', '_value': [0, 10, 2.5]}",
           "0.0 2.5 5.0 5.0 5.0 10.0", 1.25, 1.26, 3.75, 6.25, 5.1, 9);
    VALUES("{'_type': 'quniform', '_value': [2, 10, 5]}",
           "2.0 2.0 5.0 5.0 10.0 10.0", 2, 2.5, 2.6, 7.4, 7.6, 10);
    VALUES("{'_type': 'quniform', '_value': [0, 1, 0.6]}",
           "0.0 0.0 0.6 0.6 1.0 1.0", 0, 0.3, 0.31, 0.89, 0.91, 1);
    VALUES("{'_type': 'quniform', '_value': [-5.5, -0.5, 6]}",
           "-5.5 -5.5 -0.5 -0.5", -5.5, -3.1, -3.0, -0.5);
    VALUES("{'_type': 'quniform', '_value': [-5, 5, 2]}", "-2.0 0.0 0.0 0.0",
           -1.1, -1, -0.1, 0.9); /* never -0.0 */
    VALUES("{'_type': 'qnormal', '_value': [0, 5, 2]}",
           "-4.0 0.0 0.0 4.0 100.0", -3, -1, 1, 3, 99.5);
    VALUES("{'_type': 'qlognormal', '_value': [0, 5, 0.725]}",
           "0.0 0.725 63.074999999999996", -3, -0.5, 4.144);
}

TEST(space_clips_what_lies_outside)
{
    VALUES("{'_type': 'uniform', '_value': [-1, 1.5]}", "-1.0 1.5 0.25", -2,
           1.75, 0.25);
    VALUES("{'_type': 'uniform', '_value': [99.9, 99.9]}", "99.9 99.9", 0, 100);
    VALUES("{'_type': 'loguniform', '_value': [0.001, 100]}",
           "0.001 100.0 0.001 100.0 1.0", -1e9, 1e9, -6.907755278982137,
           4.605170185988092, 0);
    VALUES("{'_type': 'loguniform', '_value': [7, 7]}", "7.0 7.0", 0,
           1.9459101490553132);
    VALUES("{'_type': 'qloguniform', '_value': [0.001, 100, 1]}",
           "0.001 0.001 1.0 99.0 100.0", -1e9, -6, 0.1, 4.6, 1e9);
    VALUES("{'_type': 'qloguniform', '_value': [2, 2, 1]}", "2.0", 0.69);
    VALUES("{'_type': 'quniform', '_value': [3, 10, 5]}", "5.0 5.0", 0, 3);
    VALUES("{'_type': 'quniform', '_value': [0, 1, 1e-320]}", "1.0", 0.5);
    VALUES("{'_type': 'normal', '_value': [0, 0]}", "1e+300", 1e300);
}

TEST(space_emits_elements_in_canonical_spelling)
{
    struct space *s = help_space(
        "{'p': {'_type': 'choice', '_value': [42, -1, 0.3, 1e3, null, true,"
        " [1,2], {'b':1,'a':'\\u4f60'}, 18446744073709551615]},"
        " '\\u00e4\\n': {'_type': 'randint', '_value': [-2, 3]}}");
    static const char *const want[] = {"42",
                                       "-1",
                                       "0.3",
                                       "1000.0",
                                       "null",
                                       "true",
                                       "[1, 2]",
                                       "{\"b\": 1, \"a\": \"\\u4f60\"}",
                                       "18446744073709551615"};

    for (int e = 0; e < 9; e++) {
        double x[] = {e, e % 5};
        char line[256];

        snprintf(line, sizeof line, "{\"p\": %s, \"\\u00e4\\n\": %d}", want[e],
                 e % 5 - 2);
        CHECK_STR(help_decode(s, x).text, line);
    }
    space_free(s);
}

static void
check_refused(const char *entry, double x, const char *want)
{
    char text[LINE_MAX_BYTES];
    struct space *s;
    struct err err;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    s = help_space(text);
    CHECK_EQ(space_check(s, &x, &err), -1);
    CHECK_STR(err.text, want);
    CHECK_EQ(err.code, ERR_INPUT);
    space_free(s);
}

TEST(space_check_names_dimension_value_and_range)
{
    static const char choice[] = "{'_type': 'choice', '_value': [1, 2, 3]}";
    static const char expected[] = ", expected an index, a whole number within "
                                   "0..2";
    static const double bad[] = {3, -1, 0.5, NAN, INFINITY, -INFINITY, 1e300};
    static const char *const shown_as[] = {
        "3.0", "-1.0", "0.5", "NaN", "Infinity", "-Infinity", "1e+300"};
    char want[128];

    for (size_t k = 0; k < 7; k++) {
        snprintf(want, sizeof want, "p: is %s%s", shown_as[k], expected);
        check_refused(choice, bad[k], want);
    }
    check_refused("{'_type': 'randint', '_value': [5, 8]}", 5,
                  "p: is 5.0, expected an index, a whole number within 0..2");
    check_refused("{'_type': 'uniform', '_value': [5, 8]}", NAN,
                  "p: is NaN, expected a number within [5.0, 8.0] in internal "
                  "coordinates");
    check_refused("{'_type': 'loguniform', '_value': [1, 8]}", INFINITY,
                  "p: is Infinity, expected a number within [0.0, "
                  "2.0794415416798357] in internal coordinates");
    check_refused(
        "{'_type': 'lognormal', '_value': [0, 1000]}", 710,
        "p: is 710.0 in internal coordinates, expected one whose value is not too large for a double");
    check_refused(
        "{'_type': 'qlognormal', '_value': [0, 1000, 1]}", 710,
        "p: is 710.0 in internal coordinates, expected one whose value is not too large for a double");
    check_refused(
        "{'_type': 'lognormal', '_value': [0, 1000]}", -800,
        "p: is -800.0 in internal coordinates, expected one whose value is not too small for a double");
    check_refused(
        "{'_type': 'qnormal', '_value': [0, 1, 1e-300]}", 1e300,
        "p: is 1e+300 in internal coordinates, expected one whose value is not too large for a double");
}

TEST(space_check_leaves_inactive_dimensions_alone)
{
    struct space *s = help_space(nni_space);
    double x[12] = {0, 0, 2, NAN, INFINITY, -1e300, NAN, 3, 4, 5, NAN, 0};
    struct err err;

    CHECK_EQ(space_check(s, x, &err), 0);
    x[2] = 0;
    x[3] = 0.6;
    CHECK_EQ(space_check(s, x, &err), -1);
    CHECK_HAS(err.text, "D[0]/hidden: is Infinity, expected");
    x[2] = 0.5; /* an index that is none is told before what hangs on it */
    CHECK_EQ(space_check(s, x, &err), -1);
    CHECK_HAS(err.text, "D: is 0.5, expected an index");
    space_free(s);
}
