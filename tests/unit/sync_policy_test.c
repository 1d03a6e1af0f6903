/* SPDX-License-Identifier: MIT */
#include "core/log_policy.h"

#include "core/err.h"
#include "t.h"

#include <stddef.h>

TEST(sync_policy_reads_each_word)
{
    struct sync_policy p;

    CHECK_EQ(sync_policy_parse("none", &p, NULL), 0);
    CHECK_EQ(p.when, SYNC_NONE);
    CHECK_EQ(sync_policy_parse("always", &p, NULL), 0);
    CHECK_EQ(p.when, SYNC_ALWAYS);
    CHECK_EQ(sync_policy_parse("interval", &p, NULL), 0);
    CHECK_EQ(p.when, SYNC_INTERVAL);
    CHECK_EQ(p.interval_ms, 1000);
    CHECK_EQ(sync_policy_parse("interval:3600000", &p, NULL), 0);
    CHECK_EQ(p.interval_ms, 3600000);
    CHECK_EQ(sync_policy_parse("interval:1", &p, NULL), 0);
    CHECK_EQ(p.interval_ms, 1);
}

TEST(sync_policy_says_what_was_expected)
{
    static const char *const bad[] = {
        "",           "None",         "interval:", "interval:0",
        "interval:x", "interval:1.5", "always:1",  "interval:3600001"};
    struct sync_policy p;
    struct err err;

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(sync_policy_parse(bad[i], &p, &err), -1);
        CHECK_EQ(err.code, ERR_USAGE);
        CHECK_HAS(err.text, "expected ");
    }
    sync_policy_parse("alway", &p, &err);
    CHECK_STR(err.text, "expected none, interval, interval:MS or always, got "
                        "'alway' (did you mean 'always'?)");
}

TEST(sync_policy_is_written_as_it_is_read)
{
    static const char *const texts[] = {"none", "always", "interval:17"};
    char text[SYNC_TEXT_MAX];
    struct sync_policy p;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_EQ(sync_policy_parse(texts[i], &p, NULL), 0);
        sync_policy_write(&p, text);
        CHECK_STR(text, texts[i]);
    }
}
