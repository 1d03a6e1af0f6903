/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/visible.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What a terminal would obey or hide, and what is shown of it. */
static const struct {
    const char *text, *shown;
} cases[] = {
    {"plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82",
     "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82"},
    {"a\033[2Jb\177\tc", "a?[2Jb??c"},
    {"\xc2\x9b"
     "2J\xc2\x80",
     "?2J?"},                            /* C1 */
    {"\xe2\x80\xaegpj.exe", "?gpj.exe"}, /* U+202E */
    {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "????"},
    {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????"},
    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"},
    {"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf", "???"},
    {"a\xe2\x80\x8b\xe2\x80\x8c\xe2\x80\x8d.", "a???."}, /* no width */
    {"\xe2\x81\xa0\xe2\x81\xa5\xe2\x81\xaf", "???"},
    {"\xc2\xad\xe1\xa0\x8e\xef\xbf\xb9", "???"},
    {"\xf3\xa0\x81\x81\xf3\xa0\x80\x81", "??"}, /* tags */
    {"\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf",
     "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf"}, /* beside them */
    {"\xe2\x81\x9f\xe2\x81\xb0\xc2\xac\xc2\xae",
     "\xe2\x81\x9f\xe2\x81\xb0\xc2\xac\xc2\xae"},
    {"\xff\xc0\xaf\xe2\x80", "?????"},
};
#define N_CASES (sizeof cases / sizeof *cases)

TEST(visible_shows_what_a_terminal_would_obey)
{
    for (size_t i = 0; i < N_CASES; i++) {
        struct buf out;

        buf_init(&out, 1000);
        visible_text(&out, cases[i].text, strlen(cases[i].text), SIZE_MAX);
        CHECK_STR(buf_text(&out), cases[i].shown);
        buf_fini(&out);
    }
}

TEST(visible_cuts_between_characters)
{
    struct buf out;

    buf_init(&out, 100);
    visible_text(&out, "too long", 8, 3);
    visible_text(&out, "\xc3\xa9\xc3\xa9", 4, 1);
    CHECK_STR(buf_text(&out), "too...\xc3\xa9...");
    buf_fini(&out);
}

TEST(visible_makes_one_line_in_place)
{
    char text[] = "a\nb\033c\xe2\x80\xae"
                  "d\xc2\x9b\xc3\xa4\x7f.";

    visible_line(text);
    CHECK_STR(text, "a b c?d?\xc3\xa4 .");
    text[0] = '\0';
    visible_line(text);
    CHECK_STR(text, "");
}

TEST(visible_errors_are_fit_for_a_terminal)
{
    struct err err;

    err_set(&err, ERR_INPUT, "'%s'", "x\xe2\x80\xaey\n\xc2\x9bz");
    CHECK_STR(err.text, "'x?y ?z'");
}

TEST(visible_prints_with_lines)
{
    char text[100] = "";
    FILE *file = fmemopen(text, sizeof text, "w");

    visible_printf(file, "%s: %d\n%s\n", "\xe2\x81\xa6", 7, "\033c");
    fclose(file);
    CHECK_STR(text, "?: 7\n?c\n");
}
