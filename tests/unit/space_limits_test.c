/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

NOT_UNDER_TSAN;

/* {"p": choice of {"_name": 0, "p": choice of ... uniform}}, `depth` high. */
static void
put_nested(struct buf *b, int depth)
{
    if (depth == 1) {
        buf_add_text(b, "{'p': {'_type': 'uniform', '_value': [0, 1]}}");
        return;
    }
    buf_add_text(b, "{'_name': 0, 'p': {'_type': 'choice', '_value': [");
    put_nested(b, depth - 1);
    b->len--; /* give the inner object its _name */
    buf_add_text(b, ", '_name': 1}]}}");
}

TEST(space_depth_has_a_limit)
{
    struct buf b;
    struct line told;
    size_t count;
    struct space *s;

    buf_init(&b, 1 << 16);
    put_nested(&b, SPACE_DEPTH_MAX);
    /* At the top, _name is a parameter like any other: drop it. */
    memset(b.data + 1, ' ', strlen("'_name': 0,"));
    s = help_space(buf_text(&b));
    CHECK_EQ(space_dims(s)->n_dims, SPACE_DEPTH_MAX);
    space_free(s);
    buf_clear(&b);
    put_nested(&b, SPACE_DEPTH_MAX + 1);
    memset(b.data + 1, ' ', strlen("'_name': 0,"));
    CHECK(help_try(buf_text(&b), &told, &count) == NULL);
    CHECK_EQ(count, 1);
    CHECK_HAS(told.text, "[0].p: is nested too deeply, expected at most 16 "
                         "levels\n");
    buf_fini(&b);
}

/* A space of n parameters, or one of a choice with n elements. */
static char *
many(size_t n, const char *before, const char *each, const char *after)
{
    struct buf b;

    buf_init(&b, 1 << 26);
    buf_add_text(&b, before);
    for (size_t i = 0; i < n; i++) {
        buf_add_text(&b, i == 0 ? "" : ", ");
        if (strchr(each, '%') != NULL)
            buf_printf(&b, "'p%zu': {'_type': 'uniform', '_value': [0, 1]}", i);
        else
            buf_add_text(&b, each);
    }
    buf_add_text(&b, after);
    return buf_take(&b);
}

TEST(space_choices_have_a_limit)
{
    static const char before[] = "{'c': {'_type': 'choice', '_value': [";
    char *text = many(SPACE_CHOICES_MAX, before, "7", "]}}");
    struct line told;
    size_t count;
    struct space *s = help_space(text);

    CHECK_EQ(TP_DIM(space_dims(s), 0)->n_choices, SPACE_CHOICES_MAX);
    space_free(s);
    free(text);
    text = many(SPACE_CHOICES_MAX + 1, before, "7", "]}}");
    CHECK(help_try(text, &told, &count) == NULL);
    CHECK_STR(told.text, "c._value: has 1000001 values, expected at most "
                         "1000000\n");
    free(text);
}

TEST(space_dimensions_have_a_limit)
{
    char *text = many(SPACE_DIMS_MAX, "{", "%", "}");
    struct line told;
    size_t count;
    struct space *s = help_try(text, &told, &count);

    CHECK_EQ(space_dims(s)->n_dims, SPACE_DIMS_MAX);
    space_free(s);
    free(text);
    text = many(SPACE_DIMS_MAX + 1, "{", "%", "}");
    CHECK(help_try(text, &told, &count) == NULL);
    CHECK_STR(told.text, "search space: has too many parameters, expected at "
                         "most 100000\n");
    free(text);
}

/* Names are found by sorting: a wide choice is no harder than a long one. */
TEST(space_wide_choice_with_equal_keys_is_quick)
{
    char *text = many(20000, "{'c': {'_type': 'choice', '_value': [",
                      "{'_name': 1, 'u': {'_type': 'uniform',"
                      " '_value': [0, 1]}}",
                      "]}}");
    struct line told;
    size_t count;
    struct space *s = help_try(text, &told, &count);

    CHECK_EQ(space_dims(s)->n_dims, 20001);
    CHECK_STR(TP_DIM(space_dims(s), 20000)->name, "c[19999]/u");
    CHECK_EQ(TP_DIM(space_dims(s), 20000)->parent_choice, 19999);
    space_free(s);
    free(text);
}

TEST(space_whole_is_one_plain_choice)
{
    struct space *s = help_space("{'c': {'_type': 'choice', '_value': ["
                                 "{'lr': 0.1}, {'lr': 1e-5, 'b': [1]}, 3]}}");
    double x[] = {1};
    struct err err;

    CHECK_EQ(space_make_whole(s, &err), 0);
    CHECK(TP_DIM(space_dims(s), 0)->flags & TP_DIM_WHOLE);
    CHECK_STR(help_decode(s, x).text, "{\"lr\": 1e-05, \"b\": [1]}");
    CHECK_EQ(help_encode(s, "{'b': [1], 'lr': 0.00001}", x, &err), 0);
    CHECK(x[0] == 1);
    CHECK_EQ(help_encode(s, "3.0", x, &err), 0);
    CHECK(x[0] == 2);
    CHECK_EQ(help_encode(s, "{'c': 3}", x, &err), -1);
    space_free(s);
    s = help_space("{'lr': {'_type': 'normal', '_value': [0, 1]}}");
    CHECK_EQ(space_make_whole(s, &err), -1);
    CHECK_HAS(err.text, "lr._type: is normal, expected choice");
    CHECK_EQ(err.code, ERR_CONFIG);
    space_free(s);
    s = help_space("{'a': {'_type': 'choice', '_value': [{'_name': 1}]}}");
    CHECK_EQ(space_make_whole(s, &err), -1);
    CHECK_HAS(err.text, "a._type: is nested choice");
    space_free(s);
    s = help_space("{'a': {'_type': 'choice', '_value': [1]},"
                   " 'b': {'_type': 'choice', '_value': [1]}}");
    CHECK_EQ(space_make_whole(s, &err), -1);
    CHECK_HAS(err.text, "search space: has several parameters, expected");
    space_free(s);
    s = help_space("{}");
    CHECK_EQ(space_make_whole(s, &err), -1);
    space_free(s);
    space_free(NULL);
}
