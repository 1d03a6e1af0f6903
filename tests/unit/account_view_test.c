/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "cli/account_view.h"
#include "cli/terminal.h"
#include "core/buf.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

static const char account[] =
    "{\"experiment\": \"e\\u001b[2J\", \"state\": \"running\", "
    "\"concurrency\": 2, \"max_trials\": 20, \"max_duration_s\": 7200.0, "
    "\"elapsed_s\": 3599.5, \"done\": 7, \"running\": 2, \"waiting\": 1, "
    "\"failed\": 1, \"stopped\": 0, \"optimize_mode\": \"minimize\", "
    "\"best\": {\"trial\": \"00003\", \"value\": 0.25}, \"trials\": ["
    "{\"trial\": \"00007\", \"attempt\": 1, \"status\": \"running\", "
    "\"latest\": 3.5, \"reports\": 4, \"elapsed_s\": 61.0, "
    "\"recent\": [1.0, null, 8.0, 4.5], \"parameters\": {\"x\": 0.123456}},"
    "{\"trial\": \"00008\", \"attempt\": 0, \"status\": \"waiting\", "
    "\"latest\": null, \"reports\": 0, \"elapsed_s\": 0.0, "
    "\"recent\": [], \"parameters\": {\"s\": \"a\\u001bb\"}}]}";

static struct account_view
view(bool blocks)
{
    static struct json *doc;

    if (doc == NULL)
        doc = json_parse(account, strlen(account), JSON_STRICT, NULL);
    CHECK(doc != NULL);
    return (struct account_view){
        .account = json_root(doc), .since_s = 1, .blocks = blocks};
}

TEST(account_view_head)
{
    struct account_view v = view(false);
    struct buf out;

    buf_init(&out, 10000);
    account_view_head(&v, &out);
    CHECK_STR(buf_text(&out),
              "experiment  e?[2J\n"
              "state       running\n"
              "trials      7/20 done, 2 running, 1 waiting, 1 failed; 2 at a "
              "time\n"
              "best        0.25 (trial 00003), minimize\n"
              "time        1:00:00 of 2:00:00\n");
    buf_fini(&out);
}

TEST(account_view_line_has_the_time_when_it_is_wanted)
{
    struct account_view v = view(false);
    struct buf out;

    buf_init(&out, 10000);
    account_view_line(&v, false, &out);
    CHECK_STR(buf_text(&out), "running | 7/20 done, 2 running, 1 waiting, 1 "
                              "failed | best 0.25 (trial 00003)");
    account_view_line(&v, true, &out);
    CHECK_HAS(buf_text(&out), "(trial 00003) | 1:00:00 of 2:00:00");
    buf_fini(&out);
}

TEST(account_view_trials)
{
    struct account_view v = view(false);
    struct buf out;

    buf_init(&out, 10000);
    account_view_trials(&v, &out);
    CHECK_STR(buf_text(&out),
              "\nTRIAL    STATUS           LATEST TREND        REPORTS TIME   "
              "  PARAMETERS\n"
              "00007.1  running             3.5 _?#:               4 01:02    "
              "x=0.1235\n"
              "00008    waiting               -                    0 -        "
              "s=a?b\n"
              "... and 1 more\n");
    buf_clear(&out);
    v = view(true);
    account_view_trials(&v, &out);
    CHECK_HAS(buf_text(&out), " \xe2\x96\x81?\xe2\x96\x88\xe2\x96\x84 ");
    buf_fini(&out);
}

static void
frames(const char *text, size_t rows, size_t columns, const char *want)
{
    struct buf out;

    buf_init(&out, 10000);
    terminal_frame(text, rows, columns, 1, &out);
    CHECK_STR(buf_text(&out), want);
    buf_fini(&out);
}

/* Characters count, not bytes; nothing is written behind the last row. */
TEST(terminal_frame_is_cut_to_the_screen)
{
    frames("one\ntwo\n", 3, 80,
           "\033[H\033[2K\033[1mone\033[0m\r\n\033[2Ktwo\r\n\033[J");
    frames("one\ntwo\nthree\n", 2, 2,
           "\033[H\033[2K\033[1mon\033[0m\r\n\033[2Ktw");
    frames("a\n\xe2\x96\x81\xe2\x96\x88z\n", 2, 2,
           "\033[H\033[2K\033[1ma\033[0m\r\n\033[2K\xe2\x96\x81\xe2\x96\x88");
    frames("", 1, 2, "\033[H\033[J");
}

TEST(terminal_has_utf8_by_the_first_word_that_is_set)
{
    setenv("LC_ALL", "", 1);
    setenv("LC_CTYPE", "C", 1);
    setenv("LANG", "de_DE.UTF-8", 1);
    CHECK(!terminal_has_utf8());
    setenv("LC_ALL", "en_US.utf8", 1);
    CHECK(terminal_has_utf8());
}
