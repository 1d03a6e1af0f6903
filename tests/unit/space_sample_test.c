/* SPDX-License-Identifier: MIT */
#include "unit/space_help.h"

#include "numerics/random.h"

#include <math.h>

NOT_UNDER_TSAN;

static const char *const spaces[] = {
    "{}",
    "{'c': {'_type': 'choice', '_value': ['a', 'b', 'c']},"
    " 'i': {'_type': 'randint', '_value': [2, 8]},"
    " 'u': {'_type': 'uniform', '_value': [0.5, 0.9]},"
    " 'qu': {'_type': 'quniform', '_value': [100, 1000, 3]},"
    " 'lu': {'_type': 'loguniform', '_value': [0.0001, 0.1]},"
    " 'ql': {'_type': 'qloguniform', '_value': [16, 128, 0.725]},"
    " 'n': {'_type': 'normal', '_value': [0.7, 0.2]},"
    " 'qn': {'_type': 'qnormal', '_value': [500, 200, 3]},"
    " 'ln': {'_type': 'lognormal', '_value': [-6, 3]},"
    " 'qln': {'_type': 'qlognormal', '_value': [3.5, 1.2, 0.725]}}",
    /* NNI's test/ut/sdk/assets/search_space.json */
    "{'str': {'_type': 'choice', '_value': ['cat', 'dog', 'elephant']},"
    " 'int': {'_type': 'choice', '_value': [42, 43, -1]},"
    " 'mixed': {'_type': 'choice', '_value': [0.3, 'cat', 1, null]},"
    " 'float': {'_type': 'choice', '_value': [0.3, 0.1]},"
    " 'single': {'_type': 'choice', '_value': [1]},"
    " 'ri': {'_type': 'randint', '_value': [-2, 3]},"
    " 'ri1': {'_type': 'randint', '_value': [10, 11]},"
    " 'u': {'_type': 'uniform', '_value': [-1, 1.5]},"
    " 'u1': {'_type': 'uniform', '_value': [99.9, 99.9]},"
    " 'qu': {'_type': 'quniform', '_value': [0, 10, 2.5]},"
    " 'qu_clip': {'_type': 'quniform', '_value': [2, 10, 5]},"
    " 'qu_2': {'_type': 'quniform', '_value': [-5.5, -0.5, 6]},"
    " 'lu': {'_type': 'loguniform', '_value': [0.001, 100]},"
    " 'lu1': {'_type': 'loguniform', '_value': [1, 1]},"
    " 'qlu': {'_type': 'qloguniform', '_value': [0.001, 100, 1]},"
    " 'qlu1': {'_type': 'qloguniform', '_value': [2, 2, 1]},"
    " 'n': {'_type': 'normal', '_value': [-1, 5]},"
    " 'qn': {'_type': 'qnormal', '_value': [-1.5, 5, 0.1]},"
    " 'ln': {'_type': 'lognormal', '_value': [-1, 5]},"
    " 'qln': {'_type': 'qlognormal', '_value': [-1.5, 5, 0.1]}}",
    /* Nested three deep, with one key in two branches. */
    "{'d': {'_type': 'choice', '_value': ["
    "  {'_name': 'A', 'x': {'_type': 'choice', '_value': ["
    "    {'_name': 'B', 'y': {'_type': 'choice', '_value': ["
    "      {'_name': 'C', 'z': {'_type': 'loguniform', '_value': [1, 9]}},"
    "      {'_name': 'D'}]}},"
    "    {'_name': 'E', 'y': {'_type': 'randint', '_value': [0, 4]}}]}},"
    "  {'_name': 'F', 'x': {'_type': 'quniform', '_value': [0, 1, 0.25]}}]},"
    " 'last': {'_type': 'uniform', '_value': [-1, 1]}}",
    /* Awkward numbers. */
    "{'a': {'_type': 'loguniform', '_value': [1e-300, 1e300]},"
    " 'b': {'_type': 'loguniform', '_value': [0.9999999, 1.0000001]},"
    " 'c': {'_type': 'lognormal', '_value': [0, 0.001]},"
    " 'd': {'_type': 'lognormal', '_value': [50, 100]},"
    " 'e': {'_type': 'uniform', '_value': [1, 1.0000000000000002]},"
    " 'f': {'_type': 'qloguniform', '_value': [2.5, 7.5, 5]},"
    " 'g': {'_type': 'quniform', '_value': [-1e15, 1e15, 0.3]},"
    " 'h': {'_type': 'randint', '_value': [-4503599627370496, 9]},"
    " 'i': {'_type': 'uniform', '_value': [-1e307, 1e307]},"
    " 'j': {'_type': 'qlognormal', '_value': [0, 0.5, 3]},"
    " 'k': {'_type': 'loguniform', '_value': [5e-324, 1e-310]}}",
    "{'a': {'_type': 'qrandint', '_value': [-7, 100, 9]},"
    " 'b': {'_type': 'qrandint', '_value': [0, 9007199254740991, 3]},"
    " 'c': {'_type': 'lograndint', '_value': [1, 4]},"
    " 'd': {'_type': 'lograndint', '_value': [5, 6]},"
    " 'e': {'_type': 'lograndint', '_value': [1, 1099511627776]}}"};

enum { N_SPACES = sizeof spaces / sizeof *spaces, DRAWS = 2000 };

static void
check_inside(const struct tp_dim *d, double x)
{
    CHECK(d->low <= x && x <= d->high);
    if (d->flags & TP_DIM_INDEX)
        CHECK(x == floor(x));
}

TEST(space_samples_lie_inside_and_only_where_active)
{
    for (size_t k = 0; k < N_SPACES; k++) {
        struct space *s = help_space(spaces[k]);
        const struct tp_space *t = space_dims(s);
        double x[X_MAX];

        for (uint64_t id = 0; id < DRAWS; id++) {
            space_sample(s, 42, id, x);
            CHECK_EQ(space_check(s, x, NULL), 0);
            for (size_t i = 0; i < t->n_dims; i++)
                if (space_is_active(s, x, i))
                    check_inside(TP_DIM(t, i), x[i]);
                else
                    CHECK(isnan(x[i]));
        }
        space_free(s);
    }
}

/* decode(encode(decode(x))) == decode(x), to the byte. */
TEST(space_encode_of_decode_decodes_to_the_same_bytes)
{
    for (size_t k = 0; k < N_SPACES; k++) {
        struct space *s = help_space(spaces[k]);
        double x[X_MAX], y[X_MAX], z[X_MAX];
        struct err err = {0};

        for (uint64_t id = 0; id < DRAWS; id++) {
            struct line one, two;

            space_sample(s, 7, id, x);
            one = help_decode(s, x);
            help_encode(s, one.text, y, &err);
            CHECK_STR(err.text, "");
            two = help_decode(s, y);
            CHECK_STR(two.text, one.text);
            for (size_t i = 0; i < space_dims(s)->n_dims; i++)
                CHECK_EQ(isnan(y[i]), isnan(x[i]));
            CHECK_EQ(space_project(s, x, s, z, &err), 0);
            CHECK_EQ(memcmp(y, z, space_dims(s)->n_dims * sizeof *y), 0);
        }
        space_free(s);
    }
}

/* A coordinate outside its bounds decodes like its bound, and what it decodes
 * to comes back. */
TEST(space_outside_is_the_bound)
{
    struct space *s =
        help_space("{'a': {'_type': 'uniform', '_value': [0.1, 0.7]},"
                   " 'b': {'_type': 'quniform', '_value': [3, 11, 5]},"
                   " 'c': {'_type': 'loguniform', '_value': [0.001, 123]},"
                   " 'd': {'_type': 'qloguniform', '_value': [2.5, 7.5, 5]}}");
    double below[] = {-9, -9, -9, -9}, above[] = {99, 99, 99, 99}, x[4];

    CHECK_STR(help_decode(s, below).text,
              "{\"a\": 0.1, \"b\": 5.0, \"c\": 0.001, \"d\": 2.5}");
    CHECK_STR(help_decode(s, above).text,
              "{\"a\": 0.7, \"b\": 10.0, \"c\": 123.0, \"d\": 7.5}");
    CHECK_EQ(help_encode(s, help_decode(s, below).text, x, NULL), 0);
    CHECK_STR(help_decode(s, x).text, help_decode(s, below).text);
    CHECK_EQ(help_encode(s, help_decode(s, above).text, x, NULL), 0);
    CHECK_STR(help_decode(s, x).text, help_decode(s, above).text);
    space_free(s);
}

TEST(space_sample_is_a_function_of_seed_and_draw)
{
    struct space *s = help_space(spaces[1]);
    struct space *again = help_space(spaces[1]);
    double x[X_MAX], y[X_MAX];
    size_t equal = 0;

    for (uint64_t id = 0; id < 100; id++) {
        space_sample(s, 5, 1000 - id, y); /* whatever was drawn before */
        space_sample(s, 5, id, x);
        space_sample(again, 5, id, y);
        CHECK_EQ(memcmp(x, y, 10 * sizeof *x), 0);
        space_sample(s, 6, id, y);
        equal += x[2] == y[2];
        space_sample(s, 5, id + (UINT64_C(1) << 40), y);
        equal += x[2] == y[2];
    }
    CHECK_EQ(equal, 0);
    space_free(s);
    space_free(again);
}

/* What comes before, its kind and what is active there change nothing. */
TEST(space_sample_of_a_dimension_depends_on_its_index_alone)
{
    struct space *a =
        help_space("{'n': {'_type': 'choice', '_value': [{'_name': 1, 'u': "
                   "{'_type': 'uniform', '_value': [0, 1]}}, {'_name': 2}]},"
                   " 'p': {'_type': 'uniform', '_value': [0, 1]}}");
    struct space *b =
        help_space("{'x': {'_type': 'normal', '_value': [0, 1]},"
                   " 'y': {'_type': 'randint', '_value': [0, 1000]},"
                   " 'q': {'_type': 'uniform', '_value': [0, 1]},"
                   " 'z': {'_type': 'uniform', '_value': [0, 1]}}");
    double x[3], y[4];

    for (uint64_t id = 0; id < 100; id++) {
        space_sample(a, 9, id, x);
        space_sample(b, 9, id, y);
        CHECK(x[2] == y[2]);
    }
    space_free(a);
    space_free(b);
}

TEST(space_of_thousand_dimensions)
{
    struct buf b, out;
    struct line told;
    struct json *doc;
    struct space *s;
    double *x = calloc(1000, sizeof *x), *y = calloc(1000, sizeof *y);
    size_t count;

    buf_init(&b, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%s'p%d': {'_type': 'uniform', '_value': [%d, %d]}",
                   i == 0 ? "{" : ", ", i, i, i + 1);
    buf_add_char(&b, '}');
    s = help_try(buf_text(&b), &told, &count);
    CHECK_EQ(space_dims(s)->n_dims, 1000);
    buf_init(&out, 1 << 20);
    space_sample(s, 1, 1, x);
    space_decode(s, x, &out);
    doc = help_json(buf_text(&out));
    CHECK_EQ(jval_count(json_root(doc)), 1000);
    CHECK_EQ(space_encode(s, json_root(doc), y, NULL), 0);
    CHECK_EQ(memcmp(x, y, 1000 * sizeof *x), 0);
    for (int i = 0; i < 1000; i++)
        CHECK(i <= x[i] && x[i] < i + 1);
    json_free(doc);
    space_free(s);
    buf_fini(&b);
    buf_fini(&out);
    free(x);
    free(y);
}

/* One byte of a good space changed: told in one line each, or a space. */
static bool
try_mutant(const char *text, size_t at, char with)
{
    char *mutant = strdup(text);
    struct json *doc;
    struct problems problems;
    struct space *s = NULL;
    double x[X_MAX];

    mutant[at] = with;
    for (char *p = mutant; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    problems_init(&problems);
    doc = json_parse(mutant, strlen(mutant), JSON_NAN, NULL);
    if (doc != NULL) {
        s = space_parse(json_root(doc), &problems);
        CHECK((s == NULL) == (problems.count > 0));
    }
    if (s != NULL) {
        space_sample(s, 1, at, x);
        if (space_check(s, x, NULL) == 0)
            (void)help_decode(s, x);
    }
    space_free(s);
    json_free(doc);
    problems_fini(&problems);
    free(mutant);
    return doc != NULL;
}

TEST(space_parse_survives_mutants)
{
    static const char alphabet[] = "0123456789-.eE'_x,:{}[] ";
    size_t parsed = 0;

    for (uint32_t id = 0; id < 20000; id++) {
        struct random_stream r = random_stream(1, RANDOM_TEST, id, 0);
        uint32_t draw = 0;
        const char *text = spaces[1 + random_below(&r, &draw, N_SPACES - 1)];
        size_t at = random_below(&r, &draw, strlen(text));

        parsed += try_mutant(
            text, at, alphabet[random_below(&r, &draw, sizeof alphabet - 1)]);
    }
    CHECK(parsed > 5000);
}

/* Stored promise: same seed, same bytes, on every machine and by every
 * compiler.  If this fails, recorded sessions no longer replay. */
TEST(space_golden_lines)
{
    static const struct {
        size_t space;
        uint64_t seed, id;
        const char *line;
    } golden[] = {
#include "unit/space_golden.inc"
    };

    for (size_t k = 0; k < sizeof golden / sizeof *golden; k++) {
        struct space *s = help_space(spaces[golden[k].space]);
        double x[X_MAX];

        space_sample(s, golden[k].seed, golden[k].id, x);
        CHECK_STR(help_decode(s, x).text, golden[k].line);
        space_free(s);
    }
}
