/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "log/record.h"

#include <stdlib.h>
#include <string.h>

static const enum record_kind all[] = {
    RECORD_HEAD,           RECORD_IN,          RECORD_TUNER,
    RECORD_ASSESSOR,       RECORD_ROUTER,      RECORD_SKIPPED,
    RECORD_SYNC,           RECORD_END,         RECORD_TUNER_FRAME,
    RECORD_ASSESSOR_FRAME, RECORD_TUNER_EVENT, RECORD_ASSESSOR_EVENT,
    RECORD_RESUMED,        RECORD_SEGMENT,
};
#define N_ALL (sizeof all / sizeof *all)

static enum record_status
next(const char *bytes, size_t len, struct record *r, struct err *err)
{
    char *copy = malloc(len > 0 ? len : 1); /* ASan watches its end */
    enum record_status status;

    memcpy(copy, bytes, len);
    status = record_next(copy, len, 1000, r, err);
    free(copy);
    return status;
}

TEST(record_round_trip_of_every_kind)
{
    struct buf out;
    struct record r;
    struct err err;

    buf_init(&out, 10000);
    for (size_t i = 0; i < N_ALL; i++) {
        buf_clear(&out);
        record_encode(&out, all[i], UINT64_MAX - i, 1234567890123456 + (int)i,
                      "pay\nload", 8);
        CHECK_EQ(record_next(out.data, out.len, 8, &r, &err), RECORD_READY);
        CHECK_EQ(r.kind, all[i]);
        CHECK(r.number == UINT64_MAX - i);
        CHECK_EQ(r.time_us, 1234567890123456 + (int)i);
        CHECK(r.len == 8 && memcmp(r.payload, "pay\nload", 8) == 0);
        CHECK_EQ(r.size, out.len);
    }
    buf_fini(&out);
}

TEST(record_bytes_are_as_the_specification_says)
{
    struct buf out;

    buf_init(&out, 1000);
    record_write_version(&out);
    record_encode2(&out, RECORD_IN, 1, 0, "GE", 2, "4", 1);
    record_encode(&out, RECORD_SYNC, 0, -5, NULL, 0);
    CHECK_STR(buf_text(&out), "tunepipe-log 1\n"
                              "075fe1cc < 1 0 3 GE4\n"
                              "60cf508e M 0 0 0 \n");
    buf_fini(&out);
}

TEST(record_kinds_have_their_texts)
{
    static const char *const texts[] = {"H", "<",  ">t", ">a", ">r", "S", "M",
                                        "E", "<t", "<a", "!t", "!a", "R", "G"};

    for (size_t i = 0; i < N_ALL; i++)
        CHECK_STR(record_kind_text(all[i]), texts[i]);
}

TEST(record_torn_at_any_byte_is_partial)
{
    struct buf out;
    struct record r;
    struct err err;

    buf_init(&out, 1000);
    for (size_t i = 0; i < N_ALL; i++) {
        buf_clear(&out);
        record_encode(&out, all[i], 120, 1700000000000000, "payload", 7);
        for (size_t len = 0; len < out.len; len++)
            CHECK_EQ(next(out.data, len, &r, &err), RECORD_PARTIAL);
        CHECK_EQ(next(out.data, out.len, &r, &err), RECORD_READY);
    }
    buf_fini(&out);
}

/* Any single changed byte is noticed: the record is damaged, or, where the
 * byte makes the length greater, cut. */
TEST(record_changed_in_any_byte_is_noticed)
{
    struct buf out;
    struct record r;
    struct err err;

    buf_init(&out, 1000);
    record_encode(&out, RECORD_TUNER, 7, 1700000000000000, "TR{\"x\": 1}", 10);
    for (size_t i = 0; i < out.len; i++)
        for (int c = 0; c < 256; c++) {
            char was = out.data[i];
            enum record_status status;

            if ((char)c == was)
                continue;
            out.data[i] = (char)c;
            err_clear(&err);
            status = next(out.data, out.len, &r, &err);
            CHECK(status != RECORD_READY);
            CHECK(status == RECORD_PARTIAL || err.code == ERR_LOG);
            out.data[i] = was;
        }
    buf_fini(&out);
}

static void
damaged(const char *bytes, const char *error)
{
    struct record r;
    struct err err = {0};

    CHECK_EQ(next(bytes, strlen(bytes), &r, &err), RECORD_DAMAGED);
    CHECK_EQ(err.code, ERR_LOG);
    CHECK_STR(err.text, error);
}

TEST(record_damage_is_named)
{
    damaged("0000000G", "expected a checksum of 8 hexadecimal digits, not 'G'");
    damaged("0000000A", "expected a checksum of 8 hexadecimal digits, not 'A'");
    damaged("00000000<", "expected a space behind the checksum, not '<'");
    damaged("00000000 X", "expected a kind of record, not 'X'");
    damaged("00000000 >x", "expected a kind of record, not '>'");
    damaged("00000000 <1", "expected a space behind the kind, not '1'");
    damaged("00000000 < -", "expected a number and a space, not '-'");
    damaged("00000000 < 1\n", "expected a number and a space, not '\\x0a'");
    damaged("00000000 < 01 ", "expected a number of at most 64 bits without "
                              "leading zeros, not '0'");
    damaged("00000000 < 18446744073709551616 ",
            "expected a number of at most 64 bits without leading zeros, "
            "not '1'");
    damaged("00000000 < 1 9223372036854775808 ",
            "expected a time of at most 63 bits, not '9'");
    damaged("00000000 < 1 2 1001 ",
            "a payload of 1001 bytes, over the limit of 1000");
    damaged("00000000 < 1 0 3 GE4\n",
            "checksum 00000000, but the record's is 075fe1cc");
    damaged("075fe1cc < 1 0 3 GE4 ",
            "expected a newline behind the payload, not ' '");
}

static size_t
version(const char *bytes, struct err *err)
{
    return record_read_version(bytes, strlen(bytes), err);
}

TEST(record_version_line)
{
    struct err err;

    CHECK_EQ(version("tunepipe-log 1\nrest", &err), 15);
    CHECK_EQ(version("tunepipe-log 2\n", &err), 0);
    CHECK_STR(err.text, "a command log of version 2; this program reads up to "
                        "version 1");
    CHECK_EQ(version("tunepipe-log 0\n", &err), 0);
    CHECK_EQ(version("tunepipe-log 01\n", &err), 0);
    CHECK_EQ(version("tunepipe-log 1", &err), 0);
    CHECK_STR(err.text,
              "not a command log: expected the line 'tunepipe-log 1'");
    CHECK_EQ(version("", &err), 0);
    CHECK_EQ(version("\n", &err), 0);
    CHECK_EQ(version("tunepipe-log\n", &err), 0);
    CHECK_EQ(version("tunepipe-log x\n", &err), 0);
    CHECK_EQ(version("tunepipe-log 99999999999999999999999999\n", &err), 0);
    CHECK_EQ(err.code, ERR_LOG);
}

TEST(record_encode_fails_whole)
{
    struct buf out;

    buf_init(&out, 50);
    record_encode(&out, RECORD_IN, 1, 2, "0123456789", 10);
    CHECK(out.failed && out.len == 0);
    buf_clear(&out);
    record_encode2(&out, RECORD_IN, 1, 2, "", 1, "", SIZE_MAX);
    CHECK(out.failed && out.len == 0);
    buf_fini(&out);
}
