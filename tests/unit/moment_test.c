/* SPDX-License-Identifier: MIT */
#include "cli/moment.h"

#include "core/err.h"
#include "t.h"

#include <stdlib.h>
#include <time.h>

#define NOW INT64_C(1700000000000000) /* 2023-11-14T22:13:20Z */
#define SECOND INT64_C(1000000)

TEST(moment_is_a_duration_ago_or_an_iso_time)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"10m", NOW - 600 * SECOND},
        {"0", NOW},
        {"1.5h", NOW - 5400 * SECOND},
        {"2023-11-14T22:13:20Z", NOW},
        {"2023-11-14 22:13:20Z", NOW},
        {"2023-11-14T22:13:20.25Z", NOW + SECOND / 4},
        {"2023-11-14T22:13:20.1234567Z", NOW + 123456},
        {"2023-11-15T00:13:20+02:00", NOW},
        {"2023-11-14T16:43:20-0530", NOW},
        {"2023-11-14T22:13:20", NOW - 7200 * SECOND}, /* local: two ahead */
        {"2023-11-14T22:13", NOW - 7220 * SECOND},
        {"2023-11-15", NOW + (6400 - 7200) * SECOND},
    };
    struct err err;
    int64_t got;

    setenv("TZ", "XXX-2", 1);
    tzset();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(moment_parse(cases[i].text, NOW, &got, &err), 0);
        CHECK_EQ(got, cases[i].want);
    }
}

TEST(moment_refuses_what_is_no_time)
{
    static const char *const cases[] = {
        "",
        "now",
        "2023-02-29",
        "2023-11-14T",
        "2023-13-01",
        "2023-11-14x",
        "2023-11-14T22:13:20+2",
        "2023-11-14T22:13:20+02:60",
        "2023-11-14T24:61",
        "-10m",
    };
    struct err err;
    int64_t got;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(moment_parse(cases[i], NOW, &got, &err), -1);
        CHECK_EQ(err.code, ERR_USAGE);
    }
}
