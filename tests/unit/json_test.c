/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

static struct json *
parse(const char *text, unsigned flags)
{
    struct err err = {0};
    struct json *doc = json_parse(text, strlen(text), flags, &err);

    if (doc == NULL)
        CHECK_STR(err.text, text);
    return doc;
}

static void
refuses(const char *text, unsigned flags, const char *error)
{
    struct err err = {0};

    CHECK(json_parse(text, strlen(text), flags, &err) == NULL);
    CHECK_STR(err.text, error);
}

/* Where it is wrong; scan_test.c has what is said of it. */
static void
refuses_at(const char *text, unsigned flags, int byte)
{
    struct err err = {0};
    int at = -1;

    CHECK(json_parse(text, strlen(text), flags, &err) == NULL);
    CHECK_EQ(sscanf(err.text, "byte %d: ", &at), 1);
    CHECK_EQ(at, byte);
}

static void
writes(const char *text, unsigned flags, const char *want)
{
    struct json *doc = parse(text, flags);
    struct buf out;

    buf_init(&out, 1 << 20);
    jval_write(json_root(doc), &out);
    CHECK_STR(buf_text(&out), want);
    buf_fini(&out);
    json_free(doc);
}

TEST(json_null_is_a_value)
{
    struct json *doc = parse("{\"a\": null}", 0);
    struct jval v;

    CHECK(jval_get(json_root(doc), "a", &v));
    CHECK_EQ(jval_type(v), JSON_NULL);
    CHECK(!jval_get(json_root(doc), "b", &v));
    json_free(doc);
    doc = parse("null", 0);
    CHECK_EQ(jval_type(json_root(doc)), JSON_NULL);
    CHECK(!jval_get(json_root(doc), "a", &v));
    CHECK_EQ(jval_count(json_root(doc)), 0);
    json_free(doc);
    json_free(NULL);
}

TEST(json_types_are_told_apart)
{
    static const struct {
        const char *text;
        enum json_type type;
        const char *name;
    } cases[] = {
        {"true", JSON_BOOL, "a boolean"},
        {"-9223372036854775808", JSON_INT, "an integer"},
        {"9223372036854775807", JSON_INT, "an integer"},
        {"9223372036854775808", JSON_UINT, "an integer"},
        {"18446744073709551615", JSON_UINT, "an integer"},
        {"1.0", JSON_DOUBLE, "a number"},
        {"\"\"", JSON_STRING, "a string"},
        {"[]", JSON_ARRAY, "an array"},
        {"{}", JSON_OBJECT, "an object"},
        {"null", JSON_NULL, "null"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *doc = parse(cases[i].text, 0);

        CHECK_EQ(jval_type(json_root(doc)), cases[i].type);
        CHECK_STR(jval_type_name(json_root(doc)), cases[i].name);
        json_free(doc);
    }
}

/* The traps of json-c 0.16's own parser: each must be refused. */
TEST(json_refuses_what_json_c_lets_pass)
{
    refuses_at("'a'", 0, 0);
    refuses_at("[NaN]", 0, 1);
    refuses_at("-Infinity", 0, 0);
    refuses("[1e400]", JSON_NAN,
            "byte 1: number beyond a double's range: '1e400'");
    refuses_at("[18446744073709551616]", 0, 1);
    refuses_at("[-9223372036854775809]", 0, 1);
    refuses_at("\"a\nb\"", 0, 2);
    refuses_at("\"\xff\"", 0, 1);
    refuses_at("{} x", 0, 3);
    refuses_at("{} {}", 0, 3);
    refuses_at("[1,]", 0, 3);
    refuses_at("[1 2]", 0, 3);
    refuses_at("{\"a\":1,}", 0, 7);
    refuses_at("{\"a\";1}", 0, 4);
    refuses_at("{\"a\",1}", 0, 4);
    refuses_at("{\"a\":1]", 0, 6);
    refuses_at("01", 0, 0);
    refuses_at("// c\n1", 0, 0);
    refuses_at("", 0, 0);
    refuses_at("[", 0, 1);
}

TEST(json_keys_may_have_to_be_unique)
{
    struct json *doc = parse("{\"a\":1,\"b\":2,\"a\":3}", 0);
    struct jval v;
    int64_t i = 0;

    CHECK_EQ(jval_count(json_root(doc)), 2);
    CHECK(jval_get(json_root(doc), "a", &v) && jval_int(v, &i));
    CHECK_EQ(i, 3);
    json_free(doc);
    json_free(parse("{\"a\":{\"a\":1},\"b\":{\"a\":1}}", JSON_UNIQUE));
    refuses("{\"a\":1,\"b\":2,\"a\":3}", JSON_UNIQUE,
            "byte 13: the key 'a' stands twice");
    refuses_at("[{\"\\u0061\":1,\"a\":3}]", JSON_UNIQUE, 13);
    refuses_at("{\"a\":null,\"a\":null}", JSON_UNIQUE, 10);
}

TEST(json_nul_is_safe)
{
    struct json *doc = parse("[\"a\\u0000b\"]", 0);
    const char *text = NULL;
    size_t len = 0;

    CHECK(jval_string(jval_at(json_root(doc), 0), &text, &len));
    CHECK_EQ(len, 3);
    CHECK(memcmp(text, "a\0b", 4) == 0);
    json_free(doc);
    writes("\"a\\u0000b\"", 0, "\"a\\u0000b\"");
    refuses("{\"a\\u0000b\":1}", 0,
            "byte 1: a key must not hold \\u0000: '\"'");
}

TEST(json_comments_and_nan_by_flag)
{
    writes("[1, # c \n2] // d", JSON_COMMENTS, "[1, 2]");
    writes("\"x # y // z\"", JSON_COMMENTS, "\"x # y // z\"");
    writes("[NaN, Infinity, -Infinity]", JSON_NAN,
           "[NaN, Infinity, -Infinity]");
}

TEST(json_depth_is_limited)
{
    char text[2 * JSON_DEPTH_MAX + 2];

    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    text[2 * JSON_DEPTH_MAX] = '\0';
    writes(text, 0, text);
    memset(text, '[', JSON_DEPTH_MAX + 1);
    refuses_at(text, 0, 64);
}

TEST(json_writes_as_python_does)
{
    writes(
        "{\"a\":3,\"b\":1e-05,\"c\":NaN,\"d\":Infinity,\"e\":\"\xe4\xbd\xa0\","
        "\"f\":1.0,\"g\":1e22,\"h\":true,\"i\":null,"
        "\"j\":0.30000000000000004,\"k\":1e16,"
        "\"l\":1.2345678901234568e17,\"m\":-0.0}",
        JSON_NAN,
        "{\"a\": 3, \"b\": 1e-05, \"c\": NaN, \"d\": Infinity, "
        "\"e\": \"\\u4f60\", \"f\": 1.0, \"g\": 1e+22, \"h\": true, "
        "\"i\": null, \"j\": 0.30000000000000004, \"k\": 1e+16, "
        "\"l\": 1.2345678901234568e+17, \"m\": -0.0}");
    writes("[[],{},\"\",-9223372036854775808,18446744073709551615,-1,0]", 0,
           "[[], {}, \"\", -9223372036854775808, 18446744073709551615, -1, 0]");
    writes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\x7f\xf0\x9d\x84\x9e\"", 0,
           "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\\u007f\\ud834\\udd1e\"");
    writes("{\"k\xc3\xa9y\":{\"z\":1,\"a\":2}}", 0,
           "{\"k\\u00e9y\": {\"z\": 1, \"a\": 2}}");
}

TEST(json_write_string_takes_any_bytes)
{
    struct buf out;

    buf_init(&out, 100);
    json_write_string(&out, "a\xff\0z", 4);
    CHECK_STR(buf_text(&out), "\"a\\ufffd\\u0000z\"");
    buf_clear(&out);
    json_write_double(&out, 176);
    CHECK_STR(buf_text(&out), "176.0");
    buf_fini(&out);
}

TEST(json_iterates_in_the_order_of_the_text)
{
    struct json *doc = parse("{\"z\":0,\"a\":1,\"\":2,\"m\":null}", 0);
    struct jval_iter it = jval_iter(json_root(doc));
    struct buf keys;

    buf_init(&keys, 100);
    while (jval_next(&it))
        buf_printf(&keys, "%s,", it.key);
    CHECK_STR(buf_text(&keys), "z,a,,m,");
    buf_fini(&keys);
    it = jval_iter((struct jval){NULL});
    CHECK(!jval_next(&it));
    json_free(doc);
}

TEST(json_getters_refuse_other_types)
{
    struct json *doc =
        parse("[-1, 9223372036854775808, 2.5, \"s\", true, [], 7]", 0);
    struct jval a = json_root(doc);
    const char *text;
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
    bool b = false;

    CHECK(jval_int(jval_at(a, 0), &i) && i == -1);
    CHECK(!jval_uint(jval_at(a, 0), &u));
    CHECK(!jval_int(jval_at(a, 1), &i));
    CHECK(jval_uint(jval_at(a, 1), &u) && u == (uint64_t)1 << 63);
    CHECK(jval_has_uint(a, u) && !jval_has_uint(a, u - 1));
    CHECK(!jval_has_uint(jval_at(a, 3), 0));
    CHECK(jval_number(jval_at(a, 1), &d) && d == 0x1p63);
    CHECK(jval_number(jval_at(a, 0), &d) && d == -1);
    CHECK(jval_number(jval_at(a, 2), &d) && d == 2.5);
    CHECK(jval_double(jval_at(a, 2), &d) && !jval_double(jval_at(a, 6), &d));
    CHECK(!jval_int(jval_at(a, 2), &i) && !jval_uint(jval_at(a, 2), &u));
    CHECK(!jval_number(jval_at(a, 3), &d) && !jval_number(jval_at(a, 4), &d));
    CHECK(!jval_string(jval_at(a, 4), &text, NULL));
    CHECK(jval_bool(jval_at(a, 4), &b) && b && !jval_bool(jval_at(a, 6), &b));
    CHECK(!jval_get(jval_at(a, 5), "x", &a));
    CHECK_EQ(jval_count(jval_at(a, 3)), 0);
    json_free(doc);
}

static bool
same(const char *a, const char *b)
{
    struct json *da = parse(a, JSON_NAN), *db = parse(b, JSON_NAN);
    bool equal = jval_equal(json_root(da), json_root(db));

    CHECK_EQ(jval_equal(json_root(db), json_root(da)), equal);
    json_free(da);
    json_free(db);
    return equal;
}

TEST(json_equality)
{
    CHECK(same("1", "1.0") && same("-0", "0") && same("NaN", "NaN"));
    CHECK(same("{\"a\":1,\"b\":[2,null]}", "{\"b\":[2,null],\"a\":1}"));
    CHECK(same("18446744073709551615", "18446744073709551615"));
    CHECK(same("\"\\u0041\"", "\"A\"") && same("null", "null"));
    CHECK(!same("true", "1") && !same("null", "false") && !same("\"1\"", "1"));
    CHECK(!same("9007199254740993", "9007199254740992.0"));
    CHECK(!same("18446744073709551615", "18446744073709551616.0"));
    CHECK(!same("-1", "18446744073709551615") && !same("1", "1.5"));
    CHECK(!same("[1]", "[1,2]") && !same("{\"a\":1}", "{\"b\":1}"));
    CHECK(!same("[]", "{}") && !same("\"a\"", "\"b\"") && !same("NaN", "1"));
}

/* What is written reads back as the same value, whatever the text was. */
TEST(json_round_trip)
{
    static const char *const texts[] = {
        "{\"lr\":0.1,\"n\":[1,2.5,-3e-7],\"s\":\"\\ud834\\udd1e\\n\",\"b\":true}",
        "[5e-324,1.7976931348623157e308,-0.0,9007199254740993]",
        "\"\xc3\xa9\xe4\xbd\xa0\"",
    };
    struct buf out;

    buf_init(&out, 1 << 16);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json *doc = parse(texts[i], 0), *again;

        buf_clear(&out);
        jval_write(json_root(doc), &out);
        again = parse(buf_text(&out), 0);
        CHECK(jval_equal(json_root(doc), json_root(again)));
        json_free(doc);
        json_free(again);
    }
    buf_fini(&out);
}

/* Cut or changed texts neither crash nor leak. */
TEST(json_survives_cuts_and_changes)
{
    static const char text[] =
        "{\"a\":[1,-2.5e3,\"\\u00e9\xc3\xa9\"],\"b\":{\"c\":null,\"d\":true}}";
    size_t len = sizeof text - 1;
    struct err err;

    for (size_t i = 0; i < len; i++)
        CHECK(json_parse(text, i, 0, &err) == NULL);
    for (size_t i = 0; i < len; i++)
        for (int c = 0; c < 256; c += 7) {
            char *changed = malloc(len);

            memcpy(changed, text, len);
            changed[i] = (char)c;
            json_free(json_parse(changed, len, JSON_NAN | JSON_UNIQUE, &err));
            free(changed);
        }
}
