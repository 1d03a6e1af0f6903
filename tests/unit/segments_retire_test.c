/* SPDX-License-Identifier: MIT */
#include "segments_fault.h"

#include <stdlib.h>

#define LOG "log/command.log"

/* ---- old ones ---- */

static const char *
retire(uint64_t upto, enum old_segments policy, const struct logio *io)
{
    static char said[SEGMENTS_SAID_MAX];
    struct err err;

    if (segments_retire("log", upto, policy, io, said, &err) != 0) {
        static char text[ERR_TEXT_MAX];

        snprintf(text, sizeof text, "%s", err.text);
        return text;
    }
    return said;
}

TEST(retire_keeps)
{
    chain_of(4);
    CHECK_STR(retire(3, OLD_KEEP, NULL), "");
    CHECK(is_there("log/command.1.log"));
}

TEST(retire_compresses)
{
    struct stat st;

    chain_of(6);
    CHECK_STR(retire(3, OLD_COMPRESS, NULL), "segments 1 to 3 compressed");
    CHECK_STR(retire(3, OLD_COMPRESS, NULL), "");
    CHECK_STR(retire(4, OLD_COMPRESS, NULL), "segment 4 compressed");
    CHECK(!is_there("log/command.4.log"));
    CHECK(is_there("log/command.5.log"));
    CHECK_EQ(stat("log/command.1.log.gz", &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    CHECK_STR(chain_shown(LOG), chain_text(1, 18, "E18 end"));
    CHECK_EQ(system("gzip -t log/command.1.log.gz"), 0);
}

/* All of a log that was kept so far would hold up a stop for too long. */
TEST(retire_compresses_some_at_a_time)
{
    chain_of(9);
    CHECK_STR(retire(6, OLD_COMPRESS, NULL), "segments 1 to 4 compressed");
    CHECK(is_there("log/command.5.log"));
    CHECK_STR(retire(6, OLD_COMPRESS, NULL), "segments 5 to 6 compressed");
    CHECK(is_there("log/command.7.log"));
}

/* Packed before both were there; the plain one counts, and is packed again. */
TEST(retire_that_was_cut_off_goes_on)
{
    chain_of(3);
    CHECK_EQ(system("gzip -k log/command.1.log && "
                    "echo x > log/command.2.log.gz.new"),
             0);
    CHECK_STR(chain_shown(LOG), chain_text(1, 9, "E9 end"));
    CHECK_STR(retire(2, OLD_COMPRESS, NULL), "segments 1 to 2 compressed");
    CHECK(!is_there("log/command.1.log"));
    CHECK(!is_there("log/command.2.log.gz.new"));
    CHECK_STR(chain_shown(LOG), chain_text(1, 9, "E9 end"));
}

TEST(retire_drops_what_a_snapshot_stands_for)
{
    chain_of(6);
    CHECK_STR(retire(3, OLD_DROP, NULL),
              "log/command.3.snapshot: missing: expected it before segments up "
              "to 3 are dropped");
    CHECK(is_there("log/command.1.log"));
    touch("log/command.3.snapshot");
    CHECK_STR(retire(1, OLD_COMPRESS, NULL), "segment 1 compressed");
    CHECK_STR(retire(3, OLD_DROP, NULL),
              "segments 1 to 3 dropped: snapshot 3 stands for them");
    CHECK_STR(retire(3, OLD_DROP, NULL), "");
    CHECK_STR(chain_shown(LOG), chain_text(10, 18, "E18 end"));
    touch("log/command.4.snapshot");
    CHECK_STR(retire(4, OLD_DROP, NULL),
              "segment 4 dropped: snapshot 4 stands for it");
    CHECK_STR(chain_shown(LOG), chain_text(13, 18, "E18 end"));
}

static void
retire_with(enum old_segments policy, enum call call, int nth)
{
    struct err err;
    char said[SEGMENTS_SAID_MAX];
    int rc;

    CHECK_EQ(system("rm -rf log"), 0);
    chain_of(4);
    touch("log/command.2.snapshot");
    none_fails();
    fail_at[call] = nth;
    fail_error = EIO;
    rc = segments_retire("log", 2, policy, &faulty, said, &err);
    CHECK(rc == 0 || strstr(err.text, "log") != NULL);
    CHECK(nth == 0 ? rc == 0 : rc != 0 || call == UNLINK);
    /* What is there is a log at any time. */
    CHECK_HAS(chain_shown(LOG), "<7 >t7 <8 >t8 <9 >t9 <10 >t10 <11 >t11 <12 "
                                ">t12 E12 end");
    if (policy == OLD_COMPRESS)
        CHECK_STR(chain_shown(LOG), chain_text(1, 12, "E12 end"));
    CHECK_EQ(segments_retire("log", 2, policy, NULL, said, &err), 0);
    CHECK(!is_there("log/command.1.log") && !is_there("log/command.2.log"));
    CHECK(!is_there("log/command.1.log.gz.new"));
}

TEST(retire_fails_at_each_call_and_nothing_is_lost)
{
    static const enum old_segments policies[] = {OLD_COMPRESS, OLD_DROP};
    int n[CALLS];

    for (int p = 0; p < 2; p++) {
        retire_with(policies[p], OPEN, 0);
        memcpy(n, counts, sizeof n);
        for (int call = 0; call < CALLS; call++)
            for (int nth = 1; nth <= n[call]; nth++)
                retire_with(policies[p], (enum call)call, nth);
    }
}

/* ---- compressed ones that are not what they should be ---- */

static void
put_command(const char *command)
{
    CHECK_EQ(system(command), 0);
}

TEST(segments_compressed_are_checked)
{
    chain_of(3);
    CHECK_STR(retire(2, OLD_COMPRESS, NULL), "segments 1 to 2 compressed");
    put_command("cp -r log good");
    /* far more than it held */
    put_command("{ gzip -dc good/command.1.log.gz; head -c 100000000 /dev/zero;"
                " } | gzip > log/command.1.log.gz");
    CHECK_STR(chain_shown(LOG),
              "log/command.1.log.gz: holds more than it should");
    put_command("gzip -dc good/command.1.log.gz | head -c 300 | gzip > "
                "log/command.1.log.gz");
    CHECK_HAS(chain_shown(LOG), "log/command.1.log.gz: holds 300 bytes, "
                                "expected ");
    put_command("head -c 150 good/command.1.log.gz > log/command.1.log.gz");
    CHECK_STR(chain_shown(LOG), "log/command.1.log.gz: is cut off");
    put_command("cat good/command.1.log.gz good/command.2.log.gz > "
                "log/command.1.log.gz");
    CHECK_STR(chain_shown(LOG),
              "log/command.1.log.gz: has bytes behind its end");
    put_command("echo hello > log/command.1.log.gz");
    CHECK_HAS(chain_shown(LOG),
              "log/command.1.log.gz: expected what gzip packed: ");
    put_command("cp good/command.2.log.gz log/command.1.log.gz");
    CHECK_HAS(chain_shown(LOG), "log/command.1.log.gz: ");
    put_command("cp good/command.1.log.gz log/");
    CHECK_STR(chain_shown(LOG), chain_text(1, 9, "E9 end"));
    CHECK_HAS(chain_shown("good/command.1.log.gz"), "compressed: ");
}

/* Each byte of it counts. */
TEST(segments_compressed_with_a_flipped_bit)
{
    struct buf bytes;
    int same = 0;

    chain_of(3);
    CHECK_STR(retire(2, OLD_COMPRESS, NULL), "segments 1 to 2 compressed");
    get_bytes("log/command.2.log.gz", &bytes);
    for (size_t i = 0; i < bytes.len; i++) {
        const char *shown;

        bytes.data[i] ^= (char)(1 << i % 8);
        put_bytes("log/command.2.log.gz", &bytes, bytes.len);
        shown = chain_shown(LOG);
        if (strncmp(shown, "H0 ", 3) == 0) { /* of no account: the time */
            CHECK_STR(shown, chain_text(1, 9, "E9 end"));
            same++;
        } else {
            CHECK_HAS(shown, "log/command.2.log.gz: ");
        }
        bytes.data[i] ^= (char)(1 << i % 8);
    }
    buf_fini(&bytes);
    CHECK(same < 10);
}
