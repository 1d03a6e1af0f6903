/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

/* The one problem of a space with the one entry `entry`, called "p". */
static struct line
problem(const char *entry)
{
    char text[LINE_MAX_BYTES];
    struct line told;
    size_t count;

    snprintf(text, sizeof text, "{'p': %s}", entry);
    CHECK(help_try(text, &told, &count) == NULL);
    if (count != 1)
        printf("# %s", told.text);
    CHECK_EQ(count, 1);
    told.text[strcspn(told.text, "\n")] = '\0';
    return told;
}

static void
check_problem(const char *entry, const char *want)
{
    CHECK_STR(problem(entry).text, want);
}

static void
check_fine(const char *entry)
{
    char text[LINE_MAX_BYTES];

    snprintf(text, sizeof text, "{'p': %s}", entry);
    space_free(help_space(text));
}

TEST(space_of_every_kind_is_flattened)
{
    struct space *s = help_space(
        "{'c': {'_type': 'choice', '_value': ['a', 1, null]},"
        " 'i': {'_type': 'randint', '_value': [-2, 3]},"
        " 'u': {'_type': 'uniform', '_value': [-1, 1.5]},"
        " 'qu': {'_type': 'quniform', '_value': [0, 10, 2.5]},"
        " 'lu': {'_type': 'loguniform', '_value': [1, 100]},"
        " 'ql': {'_type': 'qloguniform', '_value': [1, 100, 1]},"
        " 'n': {'_type': 'normal', '_value': [-1, 5]},"
        " 'qn': {'_type': 'qnormal', '_value': [-1.5, 5, 0.1]},"
        " 'ln': {'_type': 'lognormal', '_value': [-1, 5]},"
        " 'qln': {'_type': 'qlognormal', '_value': [-1.5, 5, 0.1]}}");
    const struct tp_space *t = space_dims(s);

    CHECK_EQ(t->n_dims, 10);
    CHECK_EQ(t->_struct_size, sizeof *t);
    for (size_t i = 0; i < 10; i++) {
        const struct tp_dim *d = TP_DIM(t, i);

        CHECK_EQ(d->kind, TP_CHOICE + (int)i);
        CHECK_EQ(d->flags & TP_DIM_INDEX, i < 2 ? TP_DIM_INDEX : 0);
        CHECK_EQ(d->flags & TP_DIM_NORMAL, i > 5 ? TP_DIM_NORMAL : 0);
        CHECK_EQ(d->flags & TP_DIM_Q, i > 1 && i % 2 ? TP_DIM_Q : 0);
        CHECK_EQ(d->flags & TP_DIM_LOG,
                 i == 4 || i == 5 || i > 7 ? TP_DIM_LOG : 0);
        CHECK(d->parent == TP_NO_PARENT);
        CHECK(i < 6 || (isinf(d->low) && isinf(d->high) && d->low < d->high));
    }
    CHECK_EQ(TP_DIM(t, 0)->n_choices, 3);
    CHECK(TP_DIM(t, 0)->high == 2);
    CHECK_EQ(TP_DIM(t, 1)->n_choices, 5);
    CHECK_EQ(TP_DIM(t, 1)->offset, -2);
    CHECK(TP_DIM(t, 1)->low == 0 && TP_DIM(t, 1)->high == 4);
    CHECK(TP_DIM(t, 2)->low == -1 && TP_DIM(t, 2)->high == 1.5);
    CHECK(TP_DIM(t, 3)->q == 2.5);
    CHECK(TP_DIM(t, 4)->low == 0 &&
          fabs(TP_DIM(t, 4)->high - log(100)) < 1e-15);
    CHECK(TP_DIM(t, 9)->mu == -1.5 && TP_DIM(t, 9)->sigma == 5);
    CHECK_STR(TP_DIM(t, 9)->name, "qln");
    space_free(s);
}

/* Plugins that know neither see kinds that they know. */
TEST(space_types_beyond_nni_are_kinds_of_nni)
{
    struct space *s =
        help_space("{'k': {'_type': 'qrandint', '_value': [1, 10, 2]},"
                   " 'b': {'_type': 'qrandint', '_value': [8, 128, 8]},"
                   " 'l': {'_type': 'lograndint', '_value': [2, 1000]}}");
    const struct tp_dim *k = TP_DIM(space_dims(s), 0),
                        *b = TP_DIM(space_dims(s), 1),
                        *l = TP_DIM(space_dims(s), 2);

    CHECK_EQ(k->kind, TP_RANDINT);
    CHECK_EQ(k->flags, TP_DIM_INDEX);
    CHECK_EQ(k->n_choices, 5); /* 1, 3, 5, 7, 9 */
    CHECK_EQ(k->offset, 1);
    CHECK(k->low == 0 && k->high == 4 && k->q == 2);
    CHECK_EQ(b->n_choices, 15); /* 128 itself is never drawn */
    CHECK_EQ(l->kind, TP_QLOGUNIFORM);
    CHECK_EQ(l->flags, TP_DIM_LOG | TP_DIM_Q);
    CHECK(l->q == 1 && l->low < log(2) && l->high > log(999));
    space_free(s);
}

/* What is told of a choice that is almost nested. */
static struct line
unnested(const char *values)
{
    struct problems problems;
    char text[LINE_MAX_BYTES];
    struct line out;
    struct json *doc;

    snprintf(text, sizeof text,
             "{'m': {'_type': 'choice', '_value': [%s]}, 'x': {'_type': "
             "'uniform', '_value': [0, 1]}}",
             values);
    doc = help_json(text);
    space_free(help_space(text)); /* which NNI takes */
    problems_init(&problems);
    space_check_nested(json_root(doc), &problems);
    snprintf(out.text, sizeof out.text, "%s", buf_text(&problems.lines));
    problems_fini(&problems);
    json_free(doc);
    return out;
}

#define SUB "'k': {'_type': 'randint', '_value': [1, 3]}"
#define HAS ", which each element of a nested choice has\n"

TEST(space_tells_of_choices_that_are_almost_nested)
{
    CHECK_STR(unnested("{'_name': 'a', " SUB "}, {'_name': 'b'}").text, "");
    CHECK_STR(unnested("{'k': 3, 'o': {'_type': 'x'}}, 4, [{" SUB "}]").text,
              "");
    CHECK_STR(unnested("{'_name': 'a', " SUB "}, {'k': 3}, 'c'").text,
              "m._value[1]: lacks '_name'" HAS
              "m._value[2]: is \"c\", expected an object with _name" HAS);
    CHECK_STR(unnested("{'name': 'a', " SUB "}").text,
              "m._value[0]: has 'name', expected '_name'" HAS);
    CHECK_STR(unnested("{'_name': 1, 'n': {'_type': 'choice', '_value': "
                       "[{'_name': 1}, {" SUB "}]}}")
                  .text,
              "m[0].n._value[1]: lacks '_name'" HAS);
}

TEST(space_nested_is_depth_first_with_paths_for_names)
{
    struct space *s = help_space(
        "{'a': {'_type': 'uniform', '_value': [0, 1]},"
        " 'net': {'_type': 'choice', '_value': ["
        "   {'_name': 'x', 'units': {'_type': 'randint', '_value': [1, 9]},"
        "    'act': {'_type': 'choice', '_value': [{'_name': 'r'},"
        "      {'_name': 's', 'slope': {'_type': 'uniform', '_value': [0,1]}}"
        "    ]}},"
        "   {'_name': 'y'},"
        "   {'_name': 'z', 'rate': {'_type': 'uniform', '_value': [0, 1]},"
        "    'units': {'_type': 'randint', '_value': [1, 5]}}]},"
        " 'b': {'_type': 'uniform', '_value': [0, 1]}}");
    const struct tp_space *t = space_dims(s);
    static const struct {
        const char *name;
        size_t parent;
        uint64_t choice;
    } want[] = {{"a", TP_NO_PARENT, 0},  {"net", TP_NO_PARENT, 0},
                {"net[0]/units", 1, 0},  {"net/act", 1, 0},
                {"net/act/slope", 3, 1}, {"net/rate", 1, 2},
                {"net[2]/units", 1, 2},  {"b", TP_NO_PARENT, 0}};

    CHECK_EQ(t->n_dims, 8);
    for (size_t i = 0; i < 8; i++) {
        CHECK_STR(TP_DIM(t, i)->name, want[i].name);
        CHECK(TP_DIM(t, i)->parent == want[i].parent);
        CHECK_EQ(TP_DIM(t, i)->parent_choice, want[i].choice);
    }
    space_free(s);
}

TEST(space_active_needs_all_ancestors)
{
    struct space *s = help_space(
        "{'n': {'_type': 'choice', '_value': ["
        "   {'_name': 'x', 'm': {'_type': 'choice', '_value': [{'_name': 'r'},"
        "      {'_name': 's', 'u': {'_type': 'uniform', '_value': [0,1]}}]}},"
        "   {'_name': 'y'}]}}");
    double x[] = {0, 1, 0.5};

    CHECK(space_is_active(s, x, 0) && space_is_active(s, x, 2));
    x[0] = 1; /* x[1] is left over from before */
    CHECK(!space_is_active(s, x, 1) && !space_is_active(s, x, 2));
    CHECK_STR(help_decode(s, x).text, "{\"n\": {\"_name\": \"y\"}}");
    space_free(s);
}

TEST(space_empty_is_fine)
{
    struct space *s = help_space("{}");
    double x[1];

    CHECK_EQ(space_dims(s)->n_dims, 0);
    space_sample(s, 1, 2, x);
    CHECK_STR(help_decode(s, x).text, "{}");
    CHECK_EQ(help_encode(s, "{'a': 1}", x, NULL), 0);
    space_free(s);
}

TEST(space_problems_of_form)
{
    struct line told;
    size_t count;

    CHECK(help_try("'x'", &told, &count) == NULL);
    CHECK_STR(told.text, "search space: is \"x\", expected an object with an "
                         "entry for each parameter\n");
    check_problem("[1, 2]", "p: is an array, expected an object with _type "
                            "and _value");
    check_problem("{'type': 'uniform', '_value': [0, 1]}",
                  "p: has 'type', expected '_type'");
    check_problem("{'_type': 'uniform', 'value': [0, 1]}",
                  "p: has 'value', expected '_value'");
    check_problem("{'_type': 'uniform'}", "p: lacks '_value'");
    check_problem("{'_type': 'uniform', '_value': [0, 1], '_values': 1}",
                  "p: has an unknown key '_values' (did you mean '_value'?), "
                  "expected _type and _value");
    check_problem("{'_type': 'uniform', '_value': [0, 1], 'note': 1}",
                  "p: has an unknown key 'note', expected _type and _value");
    check_problem("{'_type': 'choic', '_value': [0, 1]}",
                  "p._type: 'choic' is unknown (did you mean 'choice'?), "
                  "expected choice, [q|log]randint, [q][log]uniform or "
                  "[q][log]normal");
    check_problem("{'_type': 3, '_value': [0, 1]}",
                  "p._type: is 3, expected a string, such as \"uniform\"");
    check_problem("{'_type': 'uniform', '_value': '0, 1'}",
                  "p._value: is \"0, 1\", expected an array [low, high]");
    check_problem("{'_type': 'choice', '_value': {}}",
                  "p._value: is an object, expected an array [value, value, "
                  "...]");
    CHECK_HAS(problem("{'_type': 'layer_choice', '_value': ['a', 'b']}").text,
              "p._type: 'layer_choice' is for architecture search");
    CHECK_HAS(problem("{'_type': 'input_choice', '_value': []}").text,
              "architecture search");
}

TEST(space_problems_of_numbers)
{
    check_problem("{'_type': 'uniform', '_value': [0]}",
                  "p._value: has 1 value, expected 2: [low, high]");
    check_problem("{'_type': 'quniform', '_value': [0]}",
                  "p._value: has 1 value, expected 3: [low, high, q]");
    check_problem(
        "{'_type': 'randint', '_value': [0, 1, 2]}",
        "p._value: has 3 values, expected 2: [low, high]; with a step "
        "it is qrandint");
    check_problem("{'_type': 'qnormal', '_value': [0, 1]}",
                  "p._value: has 2 values, expected 3: [mu, sigma, q]");
    check_problem("{'_type': 'uniform', '_value': [0, '1']}",
                  "p._value[1]: is \"1\", expected a finite number (high)");
    check_problem("{'_type': 'normal', '_value': [true, 1]}",
                  "p._value[0]: is true, expected a finite number (mu)");
    check_problem("{'_type': 'uniform', '_value': [0, Infinity]}",
                  "p._value[1]: is Infinity, expected a finite number (high)");
    check_problem("{'_type': 'qnormal', '_value': [0, 1, NaN]}",
                  "p._value[2]: is NaN, expected a finite number (q)");
    check_problem("{'_type': 'uniform', '_value': [2, 1]}",
                  "p._value: is from 2 to 1, expected low <= high");
    check_problem("{'_type': 'uniform', '_value': [-1.5e308, 1.5e308]}",
                  "p._value: is from -1.5e+308 to 1.5e+308, expected a range "
                  "that a double can hold");
    check_problem("{'_type': 'loguniform', '_value': [0, 1]}",
                  "p._value[0]: is 0, expected low > 0, because the scale is "
                  "logarithmic");
    check_problem("{'_type': 'qloguniform', '_value': [-1, 1, 1]}",
                  "p._value[0]: is -1, expected low > 0, because the scale is "
                  "logarithmic");
    check_problem("{'_type': 'normal', '_value': [0, -1]}",
                  "p._value[1]: is -1, expected sigma >= 0");
    check_problem("{'_type': 'quniform', '_value': [0, 1, 0]}",
                  "p._value[2]: is 0, expected q > 0");
    check_problem("{'_type': 'qlognormal', '_value': [0, 1, -0.5]}",
                  "p._value[2]: is -0.5, expected q > 0");
}

TEST(space_problems_of_integers)
{
    check_problem("{'_type': 'randint', '_value': [0, 2.5]}",
                  "p._value[1]: is 2.5, expected an integer above -2^53 "
                  "and below 2^53");
    check_problem("{'_type': 'randint', '_value': [0, 9007199254740993]}",
                  "p._value[1]: is 9007199254740993, expected an integer "
                  "above -2^53 and below 2^53");
    check_problem("{'_type': 'randint', '_value': [-1e300, 0]}",
                  "p._value[0]: is -1e+300, expected an integer above -2^53 "
                  "and below 2^53");
    check_problem("{'_type': 'randint', '_value': [-9007199254740991, 2]}",
                  "p._value: is from -9007199254740991 to 2, expected high - "
                  "low < 2^53");
    check_problem("{'_type': 'randint', '_value': [0, 0]}",
                  "p._value: is from 0 to 0, expected low < high (high itself "
                  "is never drawn)");
    check_problem("{'_type': 'randint', '_value': [3, 1]}",
                  "p._value: is from 3 to 1, expected low < high (high itself "
                  "is never drawn)");
    check_problem("{'_type': 'qrandint', '_value': [0, 10]}",
                  "p._value: has 2 values, expected 3: [low, high, q]");
    check_problem(
        "{'_type': 'qrandint', '_value': [0, 10, 2.5]}",
        "p._value[2]: is 2.5, expected an integer > 0 and < 2^53 (q, the step)");
    check_problem(
        "{'_type': 'qrandint', '_value': [0, 10, 0]}",
        "p._value[2]: is 0, expected an integer > 0 and < 2^53 (q, the step)");
    check_problem("{'_type': 'lograndint', '_value': [0, 10]}",
                  "p._value[0]: is 0, expected low >= 1, because the scale is "
                  "logarithmic");
    check_problem("{'_type': 'lograndint', '_value': [1, 1e13]}",
                  "p._value[1]: is 10000000000000.0, expected high <= 2^40");
    check_fine("{'_type': 'randint', '_value': [2.0, 8.0]}");
    check_fine("{'_type': 'randint', '_value': [10, 11]}");
    check_fine("{'_type': 'randint', '_value': [0, 9007199254740991]}");
}

TEST(space_equal_bounds_are_one_point)
{
    check_fine("{'_type': 'uniform', '_value': [99.9, 99.9]}");
    check_fine("{'_type': 'quniform', '_value': [2, 2, 5]}");
    check_fine("{'_type': 'loguniform', '_value': [1, 1]}");
    check_fine("{'_type': 'qloguniform', '_value': [2, 2, 1]}");
    check_fine("{'_type': 'normal', '_value': [1, 0]}");
}

TEST(space_problems_of_choices)
{
    check_problem("{'_type': 'choice', '_value': []}",
                  "p._value: is empty, expected at least 1 value");
    check_problem("{'_type': 'choice', '_value': [1, {'a': [NaN]}]}",
                  "p._value[1]: holds NaN or Infinity, expected what JSON can "
                  "say");
    check_problem("{'_type': 'choice', '_value': [{'_name': 'a', 'x': 3}]}",
                  "p[0].x: is 3, expected an object with _type and _value");
    check_problem(
        "{'_type': 'choice', '_value': [{'_name': 'a'}, {'_name':"
        " 'b', 'u': {'_type': 'unifrom', '_value': [0, 1]}}]}",
        "p[1].u._type: 'unifrom' is unknown (did you mean "
        "'uniform'?), expected choice, [q|log]randint, [q][log]uniform or "
        "[q][log]normal");
    check_problem("{'_type': 'choice', '_value': [{'_name': 'a', 'u': {'_type':"
                  " 'choice', '_value': [{'_name': 'b', 'v': {'_type': "
                  "'normal', '_value': [0, -1]}}]}}]}",
                  "p[0].u[0].v._value[1]: is -1, expected sigma >= 0");
}

TEST(space_every_problem_is_told_at_once)
{
    struct line told;
    size_t count;

    CHECK(help_try("{'a': 1, 'b': {'_type': 'unifom', '_value': 3},"
                   " 'c': {'_type': 'loguniform', '_value': [0, -1]},"
                   " 'd': {'_type': 'qnormal', '_value': ['x', -1, null]},"
                   " 'e': {}, 'f': {'_type': 'quniform', '_value': [3, 1, 0]}}",
                   &told, &count) == NULL);
    CHECK_STR(
        told.text,
        "a: is 1, expected an object with _type and _value\n"
        "b._type: 'unifom' is unknown (did you mean 'uniform'?), expected "
        "choice, [q|log]randint, [q][log]uniform or [q][log]normal\n"
        "b._value: is 3, expected an array\n"
        "c._value: is from 0 to -1, expected low <= high\n"
        "c._value[0]: is 0, expected low > 0, because the scale is "
        "logarithmic\n"
        "d._value[0]: is \"x\", expected a finite number (mu)\n"
        "d._value[2]: is null, expected a finite number (q)\n"
        "e: lacks '_type'\n"
        "e: lacks '_value'\n"
        "f._value: is from 3 to 1, expected low <= high\n"
        "f._value[2]: is 0, expected q > 0\n");
    CHECK_EQ(count, 11);
}

TEST(space_problems_stay_one_line_whatever_the_names)
{
    struct line told;
    size_t count;
    struct json *doc;
    struct problems problems;
    static const char text[] = "{\"a\\nb\": 1, \"\": {\"_type\": \"u\\nv\", "
                               "\"_value\": [0, 1]}}";

    doc = json_parse(text, sizeof text - 1, 0, NULL);
    CHECK(doc != NULL);
    problems_init(&problems);
    CHECK(space_parse(json_root(doc), &problems) == NULL);
    CHECK_HAS(buf_text(&problems.lines), "a b: is 1, expected");
    CHECK_HAS(buf_text(&problems.lines), "\"\"._type: 'u v' is unknown");
    problems_fini(&problems);
    json_free(doc);
    /* Earlier problems of the caller's do not count as the space's. */
    problems_init(&problems);
    problems_add(&problems, "elsewhere", "is wrong");
    doc = help_json("{}");
    space_free(space_parse(json_root(doc), &problems));
    CHECK_EQ(problems.count, 1);
    problems_fini(&problems);
    json_free(doc);
    CHECK(help_try("{'p': {'_type': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',"
                   "'_value': 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
                   "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'}}",
                   &told, &count) == NULL);
    CHECK_HAS(told.text, "yyy\"..., expected an array");
}

TEST(space_mixed_elements_are_a_plain_choice)
{
    struct space *s = help_space("{'p': {'_type': 'choice', '_value': ["
                                 "{'_name': 'a'}, {'x': 1}, 3]}}");
    double x[] = {0};

    CHECK_EQ(space_dims(s)->n_dims, 1);
    CHECK_STR(help_decode(s, x).text, "{\"p\": {\"_name\": \"a\"}}");
    x[0] = 1;
    CHECK_STR(help_decode(s, x).text, "{\"p\": {\"x\": 1}}");
    space_free(s);
}
