/* SPDX-License-Identifier: MIT */
#include "segments_help.h"

#include <stdlib.h>

#define LOG "log/command.log"

/* ---- reading ---- */

TEST(segments_read_as_one_log)
{
    struct log_reader *f;
    struct record r;
    struct err err;
    uint64_t arrival, frames, n = 0;

    chain_of(4);
    CHECK_STR(chain_shown(LOG), chain_text(1, 12, "E12 end"));
    f = log_open(LOG, 0, &err);
    CHECK_EQ(log_first_segment(f), 1);
    CHECK_EQ(log_last_segment(f), 4);
    CHECK(!log_lacks(f, &err));
    for (int walk = 0; walk < 2; walk++) {
        while (log_next(f, &r, &err) == LOG_RECORD) {
            if (r.kind != RECORD_IN)
                continue;
            n++;
            CHECK_EQ(log_segment(f), (r.number - 1) / PER_SEGMENT + 1);
            CHECK_STR(log_path_now(f), r.number <= 3   ? "log/command.1.log"
                                       : r.number <= 6 ? "log/command.2.log"
                                       : r.number <= 9 ? "log/command.3.log"
                                                       : LOG);
            CHECK(log_offset(f) > 0);
        }
        log_rewind(f);
    }
    CHECK_EQ(n, 24);
    CHECK_EQ(log_before(f, 3, &arrival, &frames, &err), 0);
    CHECK_EQ(arrival, 6);
    CHECK_EQ(frames, 6);
    CHECK_EQ(log_before(f, 1, &arrival, &frames, &err), 0);
    CHECK_EQ(arrival, 0);
    CHECK_EQ(log_before(f, 5, &arrival, &frames, &err), -1);
    log_close(f);
}

TEST(segments_are_begun_with_what_came_before)
{
    struct buf bytes;

    chain_of(2);
    get_bytes(LOG, &bytes);
    CHECK_HAS(buf_text(&bytes), " H 0 ");
    CHECK_HAS(buf_text(&bytes), CHAIN_HEAD "\n");
    CHECK_HAS(buf_text(&bytes), " G 3 ");
    CHECK_HAS(buf_text(&bytes), " 2 3 ");
    buf_fini(&bytes);
}

TEST(segments_can_be_read_from_one_on)
{
    struct log_reader *f;
    struct record r;
    struct err err;

    chain_of(4);
    f = log_open(LOG, 0, &err);
    CHECK_EQ(log_next(f, &r, &err), LOG_RECORD);
    for (uint64_t n = 4; n >= 1; n--)
        for (int walk = 0; walk < 2; walk++) {
            if (walk == 0)
                CHECK_EQ(log_start_at(f, n, &err), 0);
            else
                log_rewind(f);
            do
                CHECK_EQ(log_next(f, &r, &err), LOG_RECORD);
            while (r.kind == RECORD_SYNC);
            CHECK_EQ(r.kind, RECORD_IN);
            CHECK_EQ(r.number, (n - 1) * PER_SEGMENT + 1);
            while (log_next(f, &r, &err) == LOG_RECORD)
                continue;
            CHECK_EQ(log_segment(f), 4);
        }
    CHECK_EQ(log_start_at(f, 5, &err), -1);
    CHECK_STR(err.text, LOG ": no segment 5, there are 1 to 4");
    CHECK_EQ(log_start_at(f, 0, &err), -1);
    log_close(f);
}

TEST(segments_keep_what_is_pointed_to)
{
    const char *payloads[100];
    struct log_reader *f;
    struct record r;
    struct err err;
    size_t n = 0;

    chain_of(5);
    f = log_open(LOG, LOG_KEEP, &err);
    for (int walk = 0; walk < 2; walk++) {
        while (log_next(f, &r, &err) == LOG_RECORD)
            if (r.kind == RECORD_IN)
                payloads[n++] = r.payload;
        log_rewind(f);
    }
    CHECK_EQ(n, 30);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(memcmp(payloads[i], "GE1", 3), 0);
    for (size_t i = 0; i < 15; i++)
        CHECK(payloads[i] == payloads[i + 15]);
    log_close(f);
}

/* How many of their files are mapped. */
static int
maps(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[4096];
    int n = 0;

    CHECK(f != NULL);
    while (fgets(line, sizeof line, f) != NULL)
        n += strstr(line, "/log/command.") != NULL &&
             strstr(line, ".lock") == NULL;
    fclose(f);
    return n;
}

TEST(segments_that_were_read_are_not_held)
{
    struct log_reader *f;
    struct record r;
    struct err err;
    int most = 0;

    chain_of(20);
    f = log_open(LOG, 0, &err);
    while (log_next(f, &r, &err) == LOG_RECORD)
        most = maps() > most ? maps() : most;
    CHECK_EQ(most, 2);
    log_close(f);
}

TEST(segments_alone_are_read_alone)
{
    struct log_reader *f;
    struct err err;

    chain_of(3);
    CHECK_STR(chain_shown("log/command.2.log"), chain_text(4, 6, "end"));
    f = log_open("log/command.2.log", 0, &err);
    CHECK(log_lacks(f, &err));
    CHECK_STR(err.text, "log/command.2.log: segment 2 of a log: commands 1 to "
                        "3 stand in those before it");
    log_close(f);
    CHECK_STR(chain_shown("log/command.1.log"), chain_text(1, 3, "end"));
    CHECK_EQ(rename(LOG, "copy"), 0);
    CHECK_STR(chain_shown("copy"), chain_text(7, 9, "E9 end"));
}

/* ---- what is not there ---- */

TEST(segments_that_are_missing_are_named)
{
    chain_of(4);
    CHECK_EQ(rename("log/command.2.log", "2"), 0);
    CHECK_STR(chain_shown(LOG),
              "log/command.2.log: missing: it lies between segments 1 and 3");
    CHECK_EQ(rename("2", "log/command.2.log"), 0);
    CHECK_EQ(rename("log/command.3.log", "3"), 0);
    CHECK_STR(chain_shown(LOG),
              "log/command.3.log: missing: it lies between segments 1 and 4");
    CHECK_EQ(rename("3", "log/command.3.log"), 0);
    CHECK_EQ(unlink("log/command.1.log"), 0);
    CHECK_STR(chain_shown(LOG),
              "log/command.1.log: missing: no snapshot stands for it");
    CHECK_EQ(rename(LOG, "log/command.4.log"), 0);
    CHECK_STR(chain_shown(LOG), LOG ": cannot open: No such file or directory");
}

TEST(segments_that_were_dropped_are_told_of)
{
    struct log_reader *f;
    struct err err;

    chain_of(4);
    CHECK_EQ(unlink("log/command.1.log"), 0);
    CHECK_EQ(unlink("log/command.2.log"), 0);
    touch("log/command.1.snapshot"); /* the state behind segment 1 */
    CHECK_STR(chain_shown(LOG),
              "log/command.2.log: missing: no snapshot stands for it");
    touch("log/command.4.snapshot"); /* of the future */
    CHECK_HAS(chain_shown(LOG), "no snapshot stands for it");
    touch("log/command.2.snapshot");
    CHECK_STR(chain_shown(LOG), chain_text(7, 12, "E12 end"));
    f = log_open(LOG, 0, &err);
    CHECK_EQ(log_first_segment(f), 3);
    CHECK(log_lacks(f, &err));
    CHECK_STR(err.text, LOG ": commands 1 to 6 are not on record any more "
                            "(segments 1 to 2 were dropped)");
    log_close(f);
}

/* ---- damage ---- */

/* Cut anywhere it is damage, and the error names the file. */
TEST(segments_cut_in_the_middle_are_damaged)
{
    struct buf bytes;

    chain_of(3);
    get_bytes("log/command.2.log", &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        const char *shown;

        put_bytes("log/command.2.log", &bytes, len);
        shown = chain_shown(LOG);
        CHECK_HAS(shown, "log/command.2.log: ");
        CHECK(strstr(shown, "H0") == NULL);
    }
    put_bytes("log/command.2.log", &bytes, bytes.len);
    CHECK_STR(chain_shown(LOG), chain_text(1, 9, "E9 end"));
    buf_fini(&bytes);
}

TEST(segments_with_a_flipped_bit_are_damaged)
{
    struct buf bytes;

    chain_of(3);
    get_bytes("log/command.2.log", &bytes);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.data[i] ^= (char)(1 << i % 8);
        put_bytes("log/command.2.log", &bytes, bytes.len);
        CHECK_HAS(chain_shown(LOG), "log/command.2.log: ");
        bytes.data[i] ^= (char)(1 << i % 8);
    }
    buf_fini(&bytes);
}

/* The last may be torn; but for its head, which was whole before it became
 * the last. */
TEST(segments_cut_at_the_end_are_torn)
{
    struct buf bytes;
    size_t head;

    chain_of(3);
    get_bytes(LOG, &bytes);
    head = (size_t)(strstr(buf_text(&bytes), " < ") - bytes.data) - 8;
    for (size_t len = 0; len < bytes.len; len++) {
        const char *shown;

        put_bytes(LOG, &bytes, len);
        shown = chain_shown(LOG);
        if (len < head)
            CHECK_HAS(shown, len < 15 ? "not a command log"
                                      : "command.log: offset 0: begins as "
                                        "segment 1 of a log, expected 3");
        else
            CHECK(strncmp(shown, chain_text(1, 6, ""), 30) == 0);
    }
    buf_fini(&bytes);
}

TEST(segments_of_another_log_are_refused)
{
    struct buf bytes;
    char *at;

    chain_of(3);
    get_bytes("log/command.1.log", &bytes);
    put_bytes("log/command.2.log", &bytes, bytes.len);
    CHECK_STR(chain_shown(LOG), "log/command.2.log: expected to begin as "
                                "segment 2 of the log");
    buf_fini(&bytes);
    CHECK_EQ(system("rm -r log"), 0);
    chain_of(3);
    get_bytes("log/command.2.log", &bytes);
    at = strstr(buf_text(&bytes), "\"seed\": 1");
    CHECK(at != NULL);
    {
        struct buf other;
        struct segment_head h;
        struct err err;

        CHECK_EQ(segment_head_read(bytes.data, bytes.len, &h, &err), 0);
        buf_init(&other, 1 << 20);
        h.head.payload = "{\"seed\": 2}";
        segment_head_write(&h, 0, &other);
        buf_add(&other, bytes.data + h.size, bytes.len - h.size);
        put_bytes("log/command.2.log", &other, other.len);
        buf_fini(&other);
    }
    CHECK_STR(chain_shown(LOG),
              "log/command.2.log: another head than that of the segment "
              "before, expected segments of one session");
    buf_fini(&bytes);
}

TEST(segments_have_heads_that_make_sense)
{
    static const char *const bad[] = {
        "",        "2",      "2 1",  "1 1 1",  "x 1 1",
        "2 1 1 1", "2  1 1", "2 1 ", "-2 1 1", "2 1 99999999999999999999"};
    struct segment_head h;
    struct buf bytes;
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        buf_init(&bytes, 1 << 20);
        record_write_version(&bytes);
        record_encode(&bytes, RECORD_HEAD, 0, 0, "{}", 2);
        record_encode(&bytes, RECORD_SEGMENT, 7, 0, bad[i], strlen(bad[i]));
        CHECK_EQ(segment_head_read(bytes.data, bytes.len, &h, &err), -1);
        CHECK_HAS(err.text, "segment record: expected ");
        buf_fini(&bytes);
    }
}

/* What else is first is a record like others, and no head. */
TEST(segments_without_a_head_have_none)
{
    struct segment_head h;
    struct buf bytes;
    struct err err;
    size_t begin;

    buf_init(&bytes, 1 << 20);
    record_write_version(&bytes);
    begin = bytes.len;
    record_encode(&bytes, RECORD_IN, 1, 0, "GE1", 3);
    record_encode(&bytes, RECORD_SEGMENT, 7, 0, "2 1 1", 5);
    CHECK_EQ(segment_head_read(bytes.data, bytes.len, &h, &err), 0);
    CHECK_EQ(h.head.size, 0);
    CHECK_EQ(h.number, 1);
    CHECK_EQ(h.begin, begin);
    CHECK_EQ(h.size, begin);
    buf_fini(&bytes);
}

/* ---- a log that is being written ---- */

TEST(segments_are_followed)
{
    struct logwriter *l = chain_begin(NULL);
    uint64_t arrivals = 0, seen = 0;
    struct log_reader *f;
    struct record r;
    struct err err;

    f = log_open(LOG, 0, &err);
    for (int i = 0; i < 30; i++) {
        int more;

        chain_write(l, &arrivals, i % 3);
        if (i % 4 == 3 || i % 7 == 6)
            CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err),
                     LOGWRITER_OK);
        if (i % 5 == 0)
            continue; /* several segments between two looks */
        while ((more = log_grow(f, &err)) > 0)
            while (log_next(f, &r, &err) == LOG_RECORD)
                if (r.kind == RECORD_IN)
                    CHECK_EQ(r.number, ++seen);
        CHECK_EQ(more, 0);
        CHECK_EQ(seen, arrivals);
    }
    CHECK(log_last_segment(f) > 8);
    log_close(f);
    chain_end(l, arrivals);
    CHECK_STR(chain_shown(LOG), chain_text(1, arrivals, "E30 end"));
}

/* A reader that began before sees what there was then. */
TEST(segments_may_be_begun_while_others_are_read)
{
    uint64_t arrivals;
    struct logwriter *l = chain_make(2, &arrivals);
    struct log_reader *f;
    struct record r;
    struct err err;
    uint64_t n = 0;

    f = log_open(LOG, 0, &err);
    CHECK_EQ(log_next(f, &r, &err), LOG_RECORD);
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    chain_write(l, &arrivals, 2);
    CHECK_EQ(logwriter_rotate(l, arrivals, arrivals, &err), LOGWRITER_OK);
    while (log_next(f, &r, &err) == LOG_RECORD)
        n += r.kind == RECORD_IN;
    CHECK_EQ(n, 6);
    log_close(f);
    chain_end(l, arrivals);
}
