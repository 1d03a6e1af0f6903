/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "json.h"
#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks text from a block of exactly its size, so that ASan sees a read
 * beyond its end. */
static int
check_text(const char *text, size_t len, unsigned flags, struct err *err)
{
    char *copy = malloc(len > 0 ? len : 1);
    int result;

    CHECK(copy != NULL);
    memcpy(copy, text, len);
    result = scan_check(copy, len, flags, err);
    free(copy);
    return result;
}

static void
accepts(const char *text, unsigned flags)
{
    struct err err = {0};

    if (check_text(text, strlen(text), flags, &err) != 0)
        CHECK_STR(err.text, text);
}

static void
refuses(const char *text, unsigned flags, const char *error)
{
    struct err err = {0};

    CHECK_EQ(check_text(text, strlen(text), flags, &err), -1);
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_STR(err.text, error);
}

TEST(scan_accepts_every_form_of_a_value)
{
    static const char *const texts[] = {
        "null",
        " true\n",
        "false",
        "0",
        "-0",
        "1.5e+3",
        "-12E-7",
        "\"\"",
        "[]",
        "{}",
        "[[],{}]",
        "{\"a\":[1,{\"b\":null}],\"\":\"x\"}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud834\\udd1e\"",
        "\"\xc3\xa9\xe4\xbd\xa0\xf0\x9d\x84\x9e\x7f\"",
        "[1 , 2\r\n,\t3 ]",
        "18446744073709551615",
        "-9223372036854775808",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        accepts(texts[i], JSON_STRICT);
}

TEST(scan_says_what_was_expected_where)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "byte 0: expected a value, not the end"},
        {"  ", "byte 2: expected a value, not the end"},
        {"nul", "byte 0: expected a value, not 'nul'"},
        {"'a'", "byte 0: expected a value, not '\\x27'"},
        {"[1,]", "byte 3: expected a value, not ']'"},
        {"[1 2]", "byte 3: expected ',' or ']', not '2'"},
        {"{\"a\" 1}", "byte 5: expected ':', not '1'"},
        {"{a:1}", "byte 1: expected a value, not 'a'"},
        {"{1:1}", "byte 1: expected a key in double quotes, not '1'"},
        {"{\"a\":1,}", "byte 7: expected a key in double quotes, not '}'"},
        {"{\"a\":1", "byte 6: expected ',' or '}', not the end"},
        {"{\"a\":1]", "byte 6: expected ',' or '}', not ']'"},
        {"[1}", "byte 2: expected ',' or ']', not '}'"},
        {"1 1", "byte 2: expected the end of the text, not '1'"},
        {"[] x", "byte 3: expected a value, not 'x'"},
        {"01", "byte 0: a number must not begin with 0: '01'"},
        {"-", "byte 1: expected a digit, not the end"},
        {"1.", "byte 2: expected a digit, not the end"},
        {"1.e3", "byte 2: expected a digit, not 'e3'"},
        {"1e+", "byte 3: expected a digit, not the end"},
        {"+1", "byte 0: expected a value, not '+1'"},
        {"\"a", "byte 2: expected the string's closing quote, not the end"},
        {"\"a\nb\"", "byte 2: control character in a string: '\\x0a'"},
        {"\"\\x41\"", "byte 1: bad escape in a string: '\\'"},
        {"\"\\u12g4\"", "byte 1: bad escape in a string: '\\'"},
        {"\"\\u12", "byte 1: bad escape in a string: '\\'"},
        {"\"\\", "byte 1: bad escape in a string: '\\'"},
        {"[18446744073709551616]",
         "byte 1: integer beyond 64 bits: '18446744073709551616'"},
        {"-9223372036854775809",
         "byte 0: integer beyond 64 bits: '-9223372036854775809'"},
        {"NaN", "byte 0: NaN and Infinity are not allowed here: 'NaN'"},
        {"-Infinity",
         "byte 0: NaN and Infinity are not allowed here: '-Infinity'"},
        {"1 # one", "byte 2: expected a value, not '#'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(cases[i].text, JSON_STRICT, cases[i].error);
}

TEST(scan_knows_utf8)
{
    static const char *const bad[] = {
        "\x80",
        "\xc0\xaf",
        "\xc1\xbf",
        "\xc3",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xef\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "\xc3(",
        "\xe4\xbd(",
    };
    char text[16];
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t len = strlen(bad[i]);

        CHECK_EQ(scan_utf8(bad[i], len), 0);
        text[0] = text[len + 1] = '"';
        memcpy(text + 1, bad[i], len);
        CHECK_EQ(check_text(text, len + 2, JSON_STRICT, &err), -1);
        CHECK_HAS(err.text, "byte 1: bad UTF-8 in a string");
        CHECK_EQ(check_text(text, len + 1, JSON_STRICT, &err), -1);
    }
    CHECK_EQ(scan_utf8("\xf4\x8f\xbf\xbf", 4), 4);
    CHECK_EQ(scan_utf8("\xed\x9f\xbf", 3), 3);
    CHECK_EQ(scan_utf8("\xed\x9f\xbf", 2), 0);
    CHECK_EQ(scan_utf8("", 0), 0);
}

TEST(scan_flags_allow_comments_and_nan)
{
    accepts("[1, # c \n2]", JSON_COMMENTS);
    accepts("# first\n[1,2] // c", JSON_COMMENTS);
    accepts("\"x # y\"", JSON_COMMENTS);
    accepts("{\"a\": \"http://x\"}", JSON_COMMENTS);
    accepts("1//", JSON_COMMENTS);
    refuses("1 /", JSON_COMMENTS, "byte 2: expected a value, not '/'");
    refuses("1 /* c */", JSON_COMMENTS, "byte 2: expected a value, not '/'");
    accepts("[NaN, Infinity, -Infinity]", JSON_NAN);
    refuses("nan", JSON_NAN, "byte 0: expected a value, not 'nan'");
    refuses("-Inf", JSON_NAN, "byte 0: expected a value, not '-Inf'");
    refuses("NaNa", JSON_NAN, "byte 3: expected a value, not 'a'");
}

TEST(scan_counts_depth)
{
    char text[2 * JSON_DEPTH_MAX + 3];
    struct err err;
    char *deep = malloc(1 << 20);

    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    CHECK_EQ(check_text(text, 2 * JSON_DEPTH_MAX, 0, &err), 0);
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    CHECK_EQ(check_text(text, 2 * JSON_DEPTH_MAX + 2, 0, &err), -1);
    CHECK_STR(err.text, "byte 64: nested too deeply: '['");
    memset(deep, '[', 1 << 20);
    CHECK_EQ(check_text(deep, 1 << 20, 0, &err), -1);
    CHECK_HAS(err.text, "byte 64: ");
    free(deep);
}

TEST(scan_refuses_a_nul_byte)
{
    struct err err;

    CHECK_EQ(check_text("1\0", 2, 0, &err), -1);
    CHECK_STR(err.text, "byte 1: expected a value, not '\\x00'");
    CHECK_EQ(check_text("\"a\0\"", 4, 0, &err), -1);
    CHECK_STR(err.text, "byte 2: control character in a string: '\\x00'");
}

static void
unescapes(const char *text, const char *want, size_t len)
{
    struct scan s = {.text = text, .len = strlen(text)};
    struct scan_token t = scan_next(&s);
    struct buf out;

    CHECK_EQ(t.type, SCAN_STRING);
    buf_init(&out, 100);
    scan_unescape(&t, &out);
    CHECK_EQ(out.len, len);
    CHECK(memcmp(buf_text(&out), want, len) == 0);
    buf_fini(&out);
}

TEST(scan_unescapes_all_forms)
{
    unescapes("\"plain\"", "plain", 5);
    unescapes("\"\"", "", 0);
    unescapes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    unescapes("\"a\\u00e9b\\u4F60\"",
              "a\xc3\xa9"
              "b\xe4\xbd\xa0",
              7);
    unescapes("\"\\ud834\\udd1e\"", "\xf0\x9d\x84\x9e", 4);
    unescapes("\"\\u0000\"", "\0", 1);
    unescapes("\"\\ud834\"", "\xef\xbf\xbd", 3);
    unescapes("\"\\ud834\\u0041\"",
              "\xef\xbf\xbd"
              "A",
              4);
    unescapes("\"\\udd1e\\ud834x\"", "\xef\xbf\xbd\xef\xbf\xbdx", 7);
}

static bool
number(const char *text, double *out)
{
    struct scan s = {.text = text, .len = strlen(text), .flags = JSON_NAN};
    struct scan_token t = scan_next(&s);

    CHECK_EQ(t.type, SCAN_NUMBER);
    return scan_number(&t, out);
}

TEST(scan_reads_numbers)
{
    double d = 0;
    char digits[600];

    CHECK(number("0.1", &d) && d == 0.1);
    CHECK(number("-2.5e-3", &d) && d == -2.5e-3);
    CHECK(number("2.2250738585072011e-308", &d) &&
          d == 0x0.fffffffffffffp-1022);
    CHECK(number("NaN", &d) && isnan(d));
    CHECK(number("Infinity", &d) && d == INFINITY);
    CHECK(number("-Infinity", &d) && d == -INFINITY);
    CHECK(number("123456789012345678901234567890", &d) &&
          d == 123456789012345678901234567890.0);
    CHECK(!number("1e400", &d));
    memset(digits, '1', sizeof digits);
    digits[sizeof digits - 1] = '\0';
    CHECK(!number(digits, &d));
}

TEST(scan_reads_integers)
{
    static const struct scan_token minus_zero = {.text = "-0", .len = 2},
                                   least = {.text = "-9223372036854775808",
                                            .len = 20},
                                   real = {.text = "1.0", .len = 3};
    uint64_t u = 1;
    int64_t i = 0;

    CHECK(scan_uint(&minus_zero, &u) && u == 0);
    CHECK(!scan_uint(&least, &u));
    CHECK(scan_int(&least, &i) && i == INT64_MIN);
    CHECK(scan_is_integer(&least) && !scan_is_integer(&real));
    CHECK(!scan_int(&real, &i) && !scan_uint(&real, &u));
}

TEST(scan_skip_steps_over_one_value)
{
    static const char text[] = "[{\"a\":[1,2,{}]} , \"x\" ,3]7";
    struct scan s = {.text = text, .len = sizeof text - 1};

    CHECK_EQ(scan_next(&s).type, SCAN_OPEN_ARRAY);
    CHECK(scan_skip(&s));
    CHECK_EQ(scan_next(&s).type, SCAN_COMMA);
    CHECK(scan_skip_from(&s, scan_next(&s)));
    CHECK_EQ(scan_next(&s).type, SCAN_COMMA);
    CHECK(scan_skip(&s));
    CHECK(!scan_skip(&s));
    CHECK_EQ(scan_next(&s).type, SCAN_ERROR);
}

/* Every prefix of a valid text is refused, and no single changed byte makes
 * the scanner read beyond the end. */
TEST(scan_survives_cuts_and_changes)
{
    static const char text[] =
        "{\"a\":[1,-2.5e3,\"\\u00e9\xc3\xa9\"],\"b\":{\"c\":null,\"d\":true}}";
    size_t len = sizeof text - 1;
    char changed[sizeof text];
    struct err err;

    for (size_t i = 0; i < len; i++)
        CHECK_EQ(check_text(text, i, 0, &err), -1);
    for (size_t i = 0; i < len; i++)
        for (int c = 0; c < 256; c++) {
            memcpy(changed, text, len);
            changed[i] = (char)c;
            check_text(changed, len, JSON_NAN | JSON_COMMENTS, &err);
        }
}
