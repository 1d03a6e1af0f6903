/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/crc32c.h"
#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/nearest.h"
#include "core/number.h"
#include "core/problems.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(err_is_one_line_with_its_place)
{
    struct err err;

    CHECK_EQ(err_set(&err, ERR_INPUT, "bad\n%s", "value"), -1);
    CHECK_STR(err.text, "bad value");
    CHECK_EQ(err_place(&err, "file:%d", 3), -1);
    CHECK_STR(err.text, "file:3: bad value");
    CHECK_EQ(err.code, ERR_INPUT);
    CHECK_EQ(err_set(NULL, ERR_INPUT, "nobody listens"), -1);
}

TEST(err_keeps_its_number_where_its_place_is_told)
{
    struct err err = {0};

    errno = ENOSPC;
    err_errno(&err, ERR_SYSTEM, "cannot write");
    err_place(&err, "file");
    CHECK_EQ(err.number, ENOSPC);
    err_clear(&err);
    CHECK_EQ(err.number, 0);
    err_clear(NULL);
}

TEST(buf_failure_sticks_until_checked)
{
    struct buf b;
    struct err err;

    buf_init(&b, 8);
    buf_add_text(&b, "12345678");
    CHECK_EQ(buf_check(&b, "x", &err), 0);
    buf_add_char(&b, '9');
    CHECK(b.failed);
    CHECK_STR(buf_text(&b), "");
    CHECK_EQ(buf_check(&b, "payload", &err), -1);
    CHECK_HAS(err.text, "payload: more than 8 bytes");
    buf_clear(&b);
    buf_printf(&b, "%d", 42);
    CHECK_STR(buf_text(&b), "42");
    buf_consume(&b, 1);
    CHECK_STR(buf_text(&b), "2");
    buf_fini(&b);
}

TEST(buf_take_gives_the_content_away)
{
    struct buf b;
    char *text;

    buf_init(&b, 100);
    text = buf_take(&b);
    CHECK_STR(text, "");
    free(text);
    buf_add_text(&b, "abc");
    text = buf_take(&b);
    CHECK_STR(text, "abc");
    CHECK_EQ(b.len, 0);
    free(text);
}

TEST(grow_keeps_what_is_there_and_refuses_what_no_memory_holds)
{
    uint64_t *items = NULL;
    size_t n = 0, cap = 0, most = SIZE_MAX / sizeof *items;

    for (; n < 1000; n++) {
        CHECK_EQ(GROW(items, n, cap), 0);
        CHECK(cap > n);
        items[n] = n * n;
    }
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(items[i], i * i);
    CHECK_EQ(cap, 1024);
    CHECK_EQ(grow_to(&items, most + 1, sizeof *items), -1); /* 0 bytes */
    CHECK_EQ(items[n - 1], (n - 1) * (n - 1));
    cap = most / 2 + 1;
    CHECK_EQ(GROW(items, cap, cap), -1);
    CHECK_EQ(cap, most / 2 + 1);
    cap = SIZE_MAX / 2 + 1;
    CHECK_EQ(grow_cap(cap), SIZE_MAX);
    free(items);
    items = NULL;
    CHECK_EQ(grow_to(&items, 0, sizeof *items), 0);
    CHECK(items != NULL); /* NULL would be no memory */
    free(items);
}

TEST(crc32c_matches_rfc_3720)
{
    unsigned char zeros[32] = {0}, rising[32];

    for (int i = 0; i < 32; i++)
        rising[i] = (unsigned char)i;
    CHECK_EQ(crc32c(0, zeros, 32), 0x8a9136aa);
    CHECK_EQ(crc32c(0, rising, 32), 0x46dd794e);
    CHECK_EQ(crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_EQ(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

TEST(nearest_finds_what_was_meant)
{
    static const char *const names[] = {"maxTrialNumber", "trialCommand",
                                        "seed"};
    char hint[64], longest[1000] = "";

    CHECK_STR(nearest_name("maxTrialNum", names, 3), "maxTrialNumber");
    CHECK_STR(nearest_name("trailCommand", names, 3), "trialCommand");
    CHECK_STR(nearest_name("SEED", names, 3), "seed");
    CHECK(nearest_name("assessor", names, 3) == NULL);
    CHECK_STR(nearest_hint("sed", names, 3, hint, sizeof hint),
              " (did you mean 'seed'?)");
    CHECK(nearest_name("x", names, 3) == NULL);
    CHECK_STR(nearest_name("B", (const char *[]){"a", "b"}, 2), "b");
    CHECK(nearest_name("init", (const char *[]){"wait"}, 1) == NULL);
    CHECK_STR(nearest_name("tep", (const char *[]){"tpe"}, 1), "tpe");
    memset(longest, 'x', sizeof longest - 1);
    CHECK(nearest_name(longest, names, 3) == NULL);
    CHECK_STR(nearest_hint("xyzzy12", names, 3, hint, sizeof hint), "");
}

TEST(nearest_knows_what_others_call_it)
{
    static const char *const types[] = {"choice", "randint", "uniform",
                                        "loguniform"};
    static const char *const keys[] = {"maxTrialNumber", "direction"};

    CHECK_STR(nearest_name("int", types, 4), "randint");
    CHECK_STR(nearest_name("Categorical", types, 4), "choice");
    CHECK_STR(nearest_name("log_float", types, 4), "loguniform");
    CHECK_STR(nearest_name("n_trials", keys, 2), "maxTrialNumber");
    CHECK_STR(nearest_name("objective", keys, 2), "direction");
    /* Only where that is a name here, and never in place of the name itself. */
    CHECK(nearest_name("categorical", keys, 2) == NULL);
    CHECK_STR(nearest_name("mode", (const char *[]){"direction", "mode"}, 2),
              "mode");
}

static void
formats(double value, const char *want)
{
    char text[NUMBER_TEXT_MAX];

    CHECK_EQ(number_format(value, text), strlen(want));
    CHECK_STR(text, want);
}

TEST(numbers_are_spelt_as_python_spells_them)
{
    formats(0.1, "0.1");
    formats(176, "176.0");
    formats(1e-5, "1e-05");
    formats(0.0001, "0.0001");
    formats(1e16, "1e+16");
    formats(1e22, "1e+22");
    formats(9007199254740993.0, "9007199254740992.0");
    formats(-0.0, "-0.0");
    formats(1.2345678901234568e17, "1.2345678901234568e+17");
    formats(0.30000000000000004, "0.30000000000000004");
    formats(5e-324, "5e-324");
    formats(1.7976931348623157e308, "1.7976931348623157e+308");
    formats(63.074999999999996, "63.074999999999996");
    formats(-2.5, "-2.5");
    formats(NAN, "NaN");
    formats(-INFINITY, "-Infinity");
}

TEST(numbers_have_the_fewest_digits_that_read_back_as_them)
{
    uint64_t bits = 1;
    char want[40];
    double back;

    for (int i = 0; i < 50000; i++) {
        double value = (double)(1 + (bits >> 12)) * 0x1p-44;
        int precision = 15;

        bits = bits * 6364136223846793005u + 1442695040888963407u;
        value = i % 3 == 0 ? floor(value) / 1024 + 0.5 : value;
        value = nextafter(value * (i % 2 == 0 ? 0.001 : 1), i % 5);
        while (snprintf(want, sizeof want, "%.*g", precision, value) > 0 &&
               strtod(want, NULL) != value)
            precision++;
        if (strpbrk(want, ".e") == NULL)
            strcat(want, ".0");
        formats(value, want);
        CHECK(number_parse(want, strlen(want), &back) && back == value);
    }
}

/* A number's digits, without zeros at their ends. */
static void
digits_of(const char *text, char out[40])
{
    size_t n = 0;

    for (; *text != '\0' && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0'))
            out[n++] = *text;
    while (n > 0 && out[n - 1] == '0')
        n--;
    out[n] = '\0';
}

/* Where the doubles below are nearer than those above, and where notation and
 * way of counting change. */
TEST(numbers_beside_powers_have_the_fewest_digits_too)
{
    char text[NUMBER_TEXT_MAX], printed[40], got[40], want[40];

    for (int i = 0; i < 3 * 140; i++) {
        double power = i < 3 * 100 ? ldexp(1, i / 3 - 50)
                                   : strtod("1e-20", NULL) *
                                         pow(10, (double)(i / 3 - 100));
        double value =
            i % 3 == 0 ? power : nextafter(power, i % 3 == 1 ? 0 : 2 * power);
        int precision = 0;

        do
            snprintf(printed, sizeof printed, "%.*e", precision++, value);
        while (strtod(printed, NULL) != value);
        number_format(value, text);
        digits_of(printed, want);
        digits_of(text, got);
        CHECK_STR(got, want);
        CHECK(strtod(text, NULL) == value);
    }
}

TEST(numbers_are_read_whole_or_not_at_all)
{
    double d = 0;
    uint64_t u = 0;

    CHECK(number_parse("0.93", 4, &d) && d == 0.93);
    CHECK(number_parse("-1e-05", 6, &d) && d == -1e-5);
    CHECK(number_parse("0.35000000000000003", 19, &d) &&
          d == 0.35000000000000003);
    CHECK(!number_parse("", 0, &d));
    CHECK(!number_parse(".", 1, &d));
    CHECK(!number_parse("1e", 2, &d));
    CHECK(!number_parse("0x10", 4, &d));
    CHECK(!number_parse("1e400", 5, &d));
    CHECK(!number_parse("nan", 3, &d));
    CHECK(!number_parse("1 ", 2, &d));
    CHECK(number_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
    CHECK(!number_parse_u64("18446744073709551616", 20, &u));
    CHECK(!number_parse_u64("-1", 2, &u));
}

TEST(durations_have_units)
{
    int64_t ms = 0;

    CHECK(number_parse_duration_ms("90", &ms) && ms == 90000);
    CHECK(number_parse_duration_ms("1.5h", &ms) && ms == 5400000);
    CHECK(number_parse_duration_ms("0.0001s", &ms) && ms == 1);
    CHECK(number_parse_duration_ms("2 d", &ms) && ms == 172800000);
    CHECK(!number_parse_duration_ms("h", &ms));
    CHECK(!number_parse_duration_ms("-1s", &ms));
    CHECK(!number_parse_duration_ms("3w", &ms));
}

TEST(problems_are_all_told)
{
    struct problems p;
    struct err err;

    problems_init(&p);
    CHECK_EQ(problems_check(&p, &err), 0);
    problems_add(&p, "x", "bad %d", 1);
    problems_add(&p, "", "worse");
    CHECK_EQ(problems_check(&p, &err), -1);
    CHECK_STR(err.text, "x: bad 1 (and 1 more)");
    CHECK_STR(buf_text(&p.lines), "x: bad 1\nworse\n");
    problems_fini(&p);
}

TEST(files_are_private_and_capped)
{
    struct buf b;
    struct err err;
    struct stat st;

    CHECK_EQ(file_make_folder("a/b/c", &err), 0);
    CHECK_EQ(file_make_folder("a/b/c", &err), 0);
    CHECK(stat("a/b", &st) == 0 && (st.st_mode & 0777) == 0700);
    CHECK_EQ(file_write("a/f", "hello", 5, &err), 0);
    CHECK(stat("a/f", &st) == 0 && (st.st_mode & 0777) == 0600);
    buf_init(&b, 1 << 20);
    CHECK_EQ(file_read("a/f", 5, &b, &err), 0);
    CHECK_STR(buf_text(&b), "hello");
    CHECK_EQ(file_read("a/f", 4, &b, &err), -1);
    CHECK_HAS(err.text, "a/f: longer than 4 bytes");
    CHECK_EQ(file_read("a/missing", 4, &b, &err), -1);
    CHECK_HAS(err.text, "a/missing: cannot open: No such file");
    buf_fini(&b);
    buf_init(&b, 5); /* room for that, and for nothing more */
    CHECK_EQ(file_read("a/f", 5, &b, &err), 0);
    CHECK_STR(buf_text(&b), "hello");
    buf_fini(&b);
}

static void
write_text(const char *path, const char *text)
{
    CHECK_EQ(file_write(path, text, strlen(text), NULL), 0);
}

static void
check_text(const char *path, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    CHECK_EQ(file_read(path, 512, &b, NULL), 0);
    CHECK_STR(buf_text(&b), want);
    buf_fini(&b);
}

TEST(file_write_goes_through_no_link_of_its_temporary)
{
    write_text("victim", "mine");
    CHECK_EQ(symlink("victim", "file.tmp"), 0);
    write_text("file", "text");
    check_text("victim", "mine");
    check_text("file", "text");
    CHECK_EQ(link("victim", "file.tmp"), 0);
    write_text("file", "more");
    check_text("victim", "mine");
    check_text("file", "more");
}

TEST(file_plain_is_no_link_and_lies_in_none)
{
    struct err err = {0};
    struct buf b;

    buf_init(&b, 1 << 20);
    CHECK_EQ(mkdir("folder", 0700), 0);
    CHECK_EQ(file_write_plain("folder/file", "text", 4, &err), 0);
    CHECK_EQ(file_read_plain("folder/file", 512, &b, &err), 0);
    CHECK_STR(buf_text(&b), "text");
    CHECK_EQ(symlink("folder", "other"), 0);
    CHECK_EQ(file_read_plain("other/file", 512, &b, &err), -1);
    CHECK_EQ(err.number, ENOTDIR);
    CHECK_EQ(file_write_plain("other/file", "bad", 3, &err), -1);
    check_text("folder/file", "text");
    CHECK_EQ(symlink("file", "folder/link"), 0);
    CHECK_EQ(file_read_plain("folder/link", 512, &b, &err), -1);
    CHECK_EQ(err.number, ELOOP);
    CHECK_EQ(file_write_plain("folder/link", "new", 3, &err), 0);
    check_text("folder/file", "text"); /* the link was replaced */
    CHECK_EQ(mkfifo("folder/fifo", 0600), 0);
    CHECK_EQ(file_read_plain("folder/fifo", 512, &b, &err), -1);
    CHECK_EQ(err.number, ENXIO);
    CHECK_EQ(file_write_plain("here", "x", 1, &err), 0);
    buf_clear(&b);
    CHECK_EQ(file_read_plain("here", 512, &b, &err), 0);
    buf_fini(&b);
}
