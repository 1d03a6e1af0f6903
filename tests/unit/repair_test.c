/* SPDX-License-Identifier: MIT */
#include "log/repair.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "log/record.h"
#include "t.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

NOT_UNDER_TSAN;

static struct buf bytes; /* a log */
static size_t ends[16], n_ends;

static void
add(enum record_kind kind, uint64_t number, const char *payload)
{
    record_encode(&bytes, kind, number, 1700000000000000, payload,
                  strlen(payload));
    ends[n_ends++] = bytes.len;
}

static void
make_log(void)
{
    buf_init(&bytes, 1 << 20);
    record_write_version(&bytes);
    ends[n_ends++] = bytes.len;
    add(RECORD_HEAD, 0, "{}");
    add(RECORD_IN, 1, "INx");
    add(RECORD_TUNER, 1, "ID");
    add(RECORD_SYNC, 0, "");
    add(RECORD_IN, 2, "GE2");
    add(RECORD_END, 2, "end");
}

/* What was found, as "kept 15+40:2 " (offset, bytes, records). */
struct findings {
    char text[512];
    size_t len;
};

static void
note(void *ctx, const struct repair_find *f)
{
    static const char *const words[] = {
        [REPAIR_CORRECTED] = "corrected", [REPAIR_KEPT] = "kept",
        [REPAIR_LOST] = "lost",           [REPAIR_BEHIND] = "behind",
        [REPAIR_GIVEN_UP] = "given up",
    };
    struct findings *said = ctx;

    said->len += (size_t)snprintf(
        said->text + said->len, sizeof said->text - said->len, "%s %d+%d:%d ",
        words[f->what], (int)f->offset, (int)f->bytes, (int)f->records);
}

/* Repairs these bytes into the file "new"; *out, zeroed, gets its content. */
static int
repair(const char *data, size_t len, struct findings *said, struct buf *out,
       struct err *err)
{
    struct repair_setup setup = {"log", "new", note, said};
    int rc;

    *said = (struct findings){.len = 0};
    unlink("new");
    CHECK_EQ(file_write("log", data, len, err), 0);
    rc = repair_run(&setup, err);
    CHECK_EQ(rc == 0, access("new", F_OK) == 0);
    buf_clear(out);
    if (rc == 0)
        CHECK_EQ(file_read("new", 1 << 20, out, err), 0);
    return rc;
}

static bool
is_whole(const struct buf *out)
{
    return out->len == bytes.len &&
           memcmp(out->data, bytes.data, out->len) == 0;
}

TEST(repair_turns_each_wrong_bit_back)
{
    struct findings said;
    struct buf out;
    struct err err;

    make_log();
    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < 8 * bytes.len; i += 7) { /* in each byte */
        char mask = (char)(1 << (i % 8));
        bool newer;

        bytes.data[i / 8] ^= mask;
        /* A version digit that became another one is another version. */
        newer = i / 8 == 13 && bytes.data[13] >= '2' && bytes.data[13] <= '9';
        if (repair(bytes.data, bytes.len, &said, &out, &err) != 0) {
            CHECK(newer);
            CHECK_EQ(err.code, ERR_LOG);
        }
        bytes.data[i / 8] ^= mask;
        CHECK(newer || is_whole(&out));
    }
    buf_fini(&out);
}

TEST(repair_cuts_at_the_last_whole_record)
{
    struct findings said;
    struct buf out;
    struct err err;

    make_log();
    buf_init(&out, 1 << 20);
    for (size_t len = 1; len <= bytes.len; len++) {
        size_t whole = 0;

        for (size_t i = 1; i < n_ends; i++)
            whole = ends[i] <= len ? ends[i] : whole;
        CHECK_EQ(repair(bytes.data, len, &said, &out, &err),
                 whole > 0 ? 0 : -1);
        CHECK_EQ(out.len, whole);
        CHECK(memcmp(out.data == NULL ? "" : out.data, bytes.data, whole) == 0);
    }
    buf_fini(&out);
}

/* Two bits of one record: what is behind is told, and not kept. */
TEST(repair_tells_what_is_behind)
{
    char want[128];
    struct findings said;
    struct buf out;
    struct err err;

    make_log();
    buf_init(&out, 1 << 20);
    bytes.data[ends[2] + 2] ^= 1;
    bytes.data[ends[2] + 12] ^= 1;
    CHECK_EQ(repair(bytes.data, bytes.len, &said, &out, &err), 0);
    snprintf(want, sizeof want, "kept 0+%zu:2 lost %zu+%zu:0 behind %zu+%zu:3 ",
             ends[2], ends[2], ends[3] - ends[2], ends[3], bytes.len - ends[3]);
    CHECK_STR(said.text, want);
    CHECK_EQ(out.len, ends[2]);
    buf_fini(&out);
}

TEST(repair_leaves_what_is_there)
{
    struct repair_setup setup = {"log", "old", note, NULL};
    struct findings said;
    struct buf out;
    struct err err;

    make_log();
    buf_init(&out, 1 << 20);
    CHECK_EQ(file_write("old", "mine", 4, &err), 0);
    CHECK_EQ(file_write("log", bytes.data, bytes.len, &err), 0);
    CHECK_EQ(repair_run(&setup, &err), -1);
    CHECK_HAS(err.text, "old: exists, expected the name of a new file");
    CHECK_EQ(file_read("old", 100, &out, &err), 0);
    CHECK_EQ(out.len, 4);
    CHECK_EQ(repair("", 0, &said, &out, &err), -1);
    CHECK_EQ(repair(bytes.data, ends[0], &said, &out, &err), -1);
    CHECK_HAS(err.text, "nothing can be kept");
    buf_fini(&out);
}

/* Payloads full of records' heads do not make it search for ever. */
TEST(repair_gives_up_on_what_only_looks_like_records)
{
    struct findings said;
    struct buf out, text;
    struct err err;

    make_log();
    buf_init(&out, 8 << 20);
    buf_init(&text, 8 << 20);
    buf_add(&text, bytes.data, ends[1]);
    buf_add_text(&text, "?");
    while (text.len < 1 << 20)
        buf_add_text(&text, "00000000 < 1 1 900000 ");
    for (size_t i = 0; i < 1 << 20; i++)
        buf_add_char(&text, ' ');
    CHECK_EQ(repair(text.data, text.len, &said, &out, &err), 0);
    CHECK_HAS(said.text, "given up");
    CHECK_EQ(out.len, ends[1]);
    buf_fini(&out);
    buf_fini(&text);
}
