/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include <math.h>

NOT_UNDER_TSAN;

static bool
same(const struct space *a, const double *x, const struct space *b,
     const double *y)
{
    uint64_t k[2], l[2];

    CHECK(space_check(a, x, NULL) == 0 && space_check(b, y, NULL) == 0);
    space_key(a, x, k);
    space_key(b, y, l);
    return k[0] == l[0] && k[1] == l[1];
}

TEST(space_key_takes_equal_elements_for_one)
{
    struct space *s = help_space(
        "{'c': {'_type': 'choice', '_value': ['a', 'a', 'b', {'p': 1, 'q': [2]},"
        " {'q': [2], 'p': 1}, {'q': [3], 'p': 1}, 1, 1.0, true, null]}}");
    static const double like[] = {0, 0, 2, 3, 3, 5, 6, 7, 8, 9};

    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 10; k++) {
            double x = (double)i, y = (double)k;

            CHECK(same(s, &x, s, &y) == (like[i] == like[k]));
        }
    space_free(s);
}

TEST(space_key_is_of_rounded_values)
{
    struct space *s =
        help_space("{'q': {'_type': 'quniform', '_value': [0, 10, 2.5]},"
                   " 'u': {'_type': 'uniform', '_value': [0, 1]}}");
    double a[] = {4.9, 0.25}, b[] = {5.2, 0.25}, c[] = {7.4, 0.25};
    double d[] = {4.9, 0.25000000000000006};

    CHECK(same(s, a, s, b));
    CHECK(!same(s, a, s, c));
    CHECK(!same(s, a, s, d));
    space_free(s);
}

TEST(space_key_is_the_same_in_another_space)
{
    struct space *a =
        help_space("{'i': {'_type': 'randint', '_value': [0, 9]},"
                   " 'u': {'_type': 'uniform', '_value': [0, 1]}}");
    struct space *b =
        help_space("{'u': {'_type': 'uniform', '_value': [-4, 4]},"
                   " 'i': {'_type': 'choice', '_value': [7, 5]}}");
    double x[] = {5, 0.5}, y[] = {0.5, 1}, z[] = {0.5, 0};

    CHECK(same(a, x, b, y));
    CHECK(!same(a, x, b, z));
    space_free(a);
    space_free(b);
}

TEST(space_key_looks_into_nested_elements_of_one_name)
{
    struct space *s = help_space(
        "{'d': {'_type': 'choice', '_value': ["
        " {'_name': 'A', 'x': {'_type': 'choice', '_value': [1, 2]}},"
        " {'_name': 'A', 'x': {'_type': 'choice', '_value': [2, 3]}},"
        " {'_name': 'B'}]}}");
    double a2[] = {0, 1, NAN}, b2[] = {1, NAN, 0}, b3[] = {1, NAN, 1};
    double c[] = {2, NAN, NAN};

    CHECK(same(s, a2, s, b2));
    CHECK(!same(s, a2, s, b3));
    CHECK(!same(s, a2, s, c));
    space_free(s);
}

TEST(space_value_is_what_a_trial_is_given)
{
    struct space *s =
        help_space("{'q': {'_type': 'quniform', '_value': [2, 10, 5]},"
                   " 'i': {'_type': 'randint', '_value': [-2, 3]},"
                   " 'l': {'_type': 'lognormal', '_value': [0, 1]},"
                   " 'c': {'_type': 'choice', '_value': ['a', 'b']},"
                   " 'k': {'_type': 'qrandint', '_value': [1, 10, 2]},"
                   " 'n': {'_type': 'lograndint', '_value': [2, 10]}}");

    CHECK(space_value(s, 0, 6) == 5);
    CHECK(space_value(s, 0, 2.4) == 2); /* rounded to 0, clipped */
    CHECK(space_value(s, 1, 0) == -2);
    CHECK(space_value(s, 2, -INFINITY) == 0);
    CHECK(space_value(s, 2, INFINITY) == INFINITY);
    CHECK(space_value(s, 3, 1) == 1);
    CHECK(isnan(space_value(s, 0, NAN)));
    CHECK(space_value(s, 4, 3) == 7);
    CHECK(space_value(s, 5, -9) == 2 && space_value(s, 5, 9) == 9);
    CHECK(isnan(space_value(s, 6, 1)));
    space_free(s);
}
