/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "frame.h"

#include <stdlib.h>
#include <string.h>

/* Ways to feed the same bytes: all at once, one by one, random portions. */
enum feeding { WHOLE, SINGLE, RANDOM_1, RANDOM_2, N_FEEDINGS };

static size_t
portion(enum feeding how, uint32_t *state, size_t left)
{
    size_t n = left;

    if (how == SINGLE)
        n = 1;
    if (how >= RANDOM_1) {
        *state = *state * 1664525u + 1013904223u;
        n = 1 + (*state >> 16) % (how == RANDOM_1 ? 20 : 3000);
    }
    return n < left ? n : left;
}

/* Feeds the bytes and appends "CODE OFFSET LENGTH PAYLOAD\n" for each frame to
 * `seen`; returns the last status. */
static enum frame_status
feed(struct frame_decoder *d, const char *bytes, size_t len, enum feeding how,
     struct buf *seen, struct err *err)
{
    enum frame_status status = FRAME_PARTIAL;
    uint32_t state = (uint32_t)how;

    while (len > 0) {
        size_t room, n = portion(how, &state, len);
        struct frame f;
        char *to = frame_room(d, &room);

        CHECK(to != NULL && room >= (size_t)64 << 10);
        n = n < room ? n : room;
        memcpy(to, bytes, n);
        frame_filled(d, n);
        bytes += n;
        len -= n;
        while ((status = frame_next(d, &f, err)) == FRAME_READY) {
            buf_printf(seen, "%s %llu %zu ", f.code,
                       (unsigned long long)f.offset, f.len);
            buf_add(seen, f.payload, f.len);
            buf_add_char(seen, '\n');
        }
        if (status == FRAME_BROKEN)
            break;
    }
    return status;
}

static void
decodes(int digits, const char *bytes, size_t len, const char *want)
{
    for (int how = WHOLE; how < N_FEEDINGS; how++) {
        struct frame_decoder d;
        struct buf seen;
        struct err err;

        buf_init(&seen, 1 << 24);
        frame_decoder_init(&d, digits, 1 << 20);
        CHECK_EQ(feed(&d, bytes, len, how, &seen, &err), FRAME_PARTIAL);
        CHECK_STR(buf_text(&seen), want);
        CHECK_EQ(frame_pending(&d), 0);
        frame_decoder_fini(&d);
        buf_fini(&seen);
    }
}

TEST(frame_decodes_however_it_is_fed)
{
    static const char bytes[] = "TR00000000000007CONTENTPI00000000000000"
                                "TR00000000000006\xe4\xbd\xa0\xe5\xa5\xbd"
                                "GE00000000000001"
                                "4";

    decodes(FRAME_DIGITS, bytes, sizeof bytes - 1,
            "TR 0 7 CONTENT\nPI 23 0 \nTR 39 6 \xe4\xbd\xa0\xe5\xa5\xbd\n"
            "GE 61 1 4\n");
}

TEST(frame_decodes_the_old_six_digits)
{
    static const char bytes[] = "TR000007CONTENTID000000";

    decodes(FRAME_DIGITS_OLD, bytes, sizeof bytes - 1,
            "TR 0 7 CONTENT\nID 15 0 \n");
}

static void
breaks(int digits, const char *bytes, size_t len, const char *error)
{
    for (int how = WHOLE; how < N_FEEDINGS; how++) {
        struct frame_decoder d;
        struct frame f;
        struct buf seen;
        struct err err = {0};

        buf_init(&seen, 1 << 20);
        frame_decoder_init(&d, digits, 1000);
        CHECK_EQ(feed(&d, bytes, len, how, &seen, &err), FRAME_BROKEN);
        CHECK_EQ(err.code, ERR_PROTOCOL);
        CHECK_STR(err.text, error);
        CHECK_EQ(frame_next(&d, &f, &err), FRAME_BROKEN); /* for good */
        frame_decoder_fini(&d);
        buf_fini(&seen);
    }
}

TEST(frame_refuses_a_bad_header_at_its_first_wrong_byte)
{
#define BREAKS(digits, bytes, error) \
    breaks(digits, bytes, sizeof bytes - 1, error)
    BREAKS(14, "g",
           "byte 0 of the stream: expected a command code (two "
           "capital letters), not 'g'");
    BREAKS(14, "G\0",
           "byte 1 of the stream: expected a command code (two "
           "capital letters), not '\\x00'");
    BREAKS(14,
           "GE00000000000001"
           "1\nGE",
           "byte 17 of the stream: expected a command code (two capital "
           "letters), not '\\x0a'");
    BREAKS(14, "GE             1",
           "byte 2 of the stream: expected 14 digits of length, not ' ' (the "
           "frame begins 'GE ')");
    BREAKS(14, "GE-0000000000001",
           "byte 2 of the stream: expected 14 digits of length, not '-' (the "
           "frame begins 'GE-')");
    BREAKS(14, "PI00000000000000ME000007{\"",
           "byte 24 of the stream: expected 14 digits of length, not '{' (the "
           "frame begins 'ME000007{')");
    BREAKS(6, "ME00000x",
           "byte 7 of the stream: expected 6 digits of length, not 'x' (the "
           "frame begins 'ME00000x')");
    BREAKS(14, "\xe4\xbd",
           "byte 0 of the stream: expected a command code (two "
           "capital letters), not '\\xe4'");
}

TEST(frame_refuses_a_length_over_the_cap)
{
    BREAKS(14, "ME00000000001001",
           "byte 0 of the stream: ME with a payload of 1001 bytes, over the "
           "limit of 1000 (see --max-payload)");
    BREAKS(14, "PI00000000000000ME99999999999999",
           "byte 16 of the stream: ME with a payload of 99999999999999 bytes, "
           "over the limit of 1000 (see --max-payload)");
#undef BREAKS
}

TEST(frame_pending_tells_of_a_cut_frame)
{
    static const char bytes[] = "PI00000000000000ME00000000000010half";
    struct frame_decoder d;
    struct buf seen;
    struct err err;

    buf_init(&seen, 1000);
    frame_decoder_init(&d, FRAME_DIGITS, 1000);
    CHECK_EQ(frame_pending(&d), 0);
    CHECK_EQ(feed(&d, bytes, sizeof bytes - 1, SINGLE, &seen, &err),
             FRAME_PARTIAL);
    CHECK_EQ(frame_pending(&d), 20);
    frame_decoder_fini(&d);
    buf_fini(&seen);
}

/* A peer that claims much and sends little costs little. */
TEST(frame_grows_with_what_arrives_only)
{
    struct frame_decoder d;
    struct buf seen;
    struct err err;

    buf_init(&seen, 1000);
    frame_decoder_init(&d, FRAME_DIGITS, (size_t)64 << 20);
    CHECK_EQ(feed(&d, "ME00000067108864{\"a\":12345", 26, SINGLE, &seen, &err),
             FRAME_PARTIAL);
    CHECK(d.in.cap <= (size_t)1 << 20);
    frame_decoder_fini(&d);
    buf_fini(&seen);
}

TEST(frame_of_the_greatest_size_passes_and_its_memory_is_returned)
{
    size_t size = (size_t)8 << 20;
    struct frame_decoder d;
    struct buf stream;
    struct frame f;
    struct err err;
    char *payload = malloc(size);
    size_t room, sent = 0;

    memset(payload, 'x', size);
    buf_init(&stream, size + 100);
    frame_encode(&stream, FRAME_DIGITS, "FD", payload, size);
    frame_encode(&stream, FRAME_DIGITS, "PI", NULL, 0);
    CHECK_EQ(buf_check(&stream, "stream", &err), 0);
    frame_decoder_init(&d, FRAME_DIGITS, size);
    while (frame_next(&d, &f, &err) == FRAME_PARTIAL) {
        char *to = frame_room(&d, &room);
        size_t n = stream.len - sent < room ? stream.len - sent : room;

        CHECK(to != NULL && n > 0);
        CHECK(d.in.cap <= 4 * sent + ((size_t)1 << 20));
        memcpy(to, stream.data + sent, n);
        frame_filled(&d, n);
        sent += n;
    }
    CHECK_STR(f.code, "FD");
    CHECK(f.len == size && memcmp(f.payload, payload, size) == 0);
    CHECK_EQ(frame_next(&d, &f, &err), FRAME_READY);
    CHECK_STR(f.code, "PI");
    CHECK(frame_room(&d, &room) != NULL);
    CHECK(d.in.cap <= (size_t)1 << 20);
    frame_decoder_fini(&d);
    buf_fini(&stream);
    free(payload);
}

/* Whole frames do not pile up in the buffer, whatever the portions are. */
TEST(frame_buffer_stays_small_over_a_long_stream)
{
    struct frame_decoder d;
    struct buf one, stream, seen;
    struct err err;

    buf_init(&one, 1000);
    buf_init(&stream, 1 << 24);
    buf_init(&seen, 1 << 24);
    frame_encode(&one, FRAME_DIGITS, "ME", "0123456789", 10);
    for (int i = 0; i < 100000; i++)
        buf_add(&stream, one.data, one.len);
    frame_decoder_init(&d, FRAME_DIGITS, 1000);
    CHECK_EQ(feed(&d, stream.data, stream.len, RANDOM_2, &seen, &err),
             FRAME_PARTIAL);
    CHECK(d.in.cap <= (size_t)1 << 20);
    CHECK_EQ(d.offset, stream.len);
    frame_decoder_fini(&d);
    buf_fini(&one);
    buf_fini(&stream);
    buf_fini(&seen);
}

TEST(frame_encode_refuses_what_the_digits_cannot_say)
{
    struct buf out;
    char *big = calloc(1, 1000000);

    buf_init(&out, 2000000);
    frame_encode(&out, FRAME_DIGITS_OLD, "TR", "CONTENT", 7);
    frame_encode(&out, FRAME_DIGITS, "ID", NULL, 0);
    CHECK_STR(buf_text(&out), "TR000007CONTENTID00000000000000");
    buf_clear(&out);
    frame_encode(&out, FRAME_DIGITS_OLD, "TR", big, 999999);
    CHECK(!out.failed);
    buf_clear(&out);
    frame_encode(&out, FRAME_DIGITS_OLD, "TR", big, 1000000);
    CHECK(out.failed && out.len == 0);
    buf_fini(&out);
    buf_init(&out, 20);
    frame_encode(&out, FRAME_DIGITS, "TR", "CONTENT", 7);
    CHECK(out.failed && out.len == 0); /* no half frame */
    buf_fini(&out);
    free(big);
}

/* A session of NNI's own manager, 34 frames: encoding what was decoded gives
 * the same bytes. */
TEST(frame_recorded_session_round_trips)
{
    for (int how = WHOLE; how < N_FEEDINGS; how++) {
        struct buf file, again;
        struct frame_decoder d;
        struct frame f;
        struct err err;
        size_t fed = 0, frames = 0;
        uint32_t state = 1;
        const char *path = t_source("tests/data/smoke.in.bin");

        buf_init(&file, 1 << 20);
        buf_init(&again, 1 << 20);
        CHECK_EQ(file_read(path, 1 << 20, &file, &err), 0);
        free((void *)path);
        frame_decoder_init(&d, FRAME_DIGITS, 1 << 20);
        while (fed < file.len) {
            size_t room, n = portion(how, &state, file.len - fed);

            memcpy(frame_room(&d, &room), file.data + fed, n);
            frame_filled(&d, n);
            fed += n;
            while (frame_next(&d, &f, &err) == FRAME_READY) {
                frame_encode(&again, FRAME_DIGITS, f.code, f.payload, f.len);
                frames++;
            }
        }
        CHECK_EQ(frames, 34);
        CHECK(again.len == file.len &&
              memcmp(again.data, file.data, file.len) == 0);
        frame_decoder_fini(&d);
        buf_fini(&file);
        buf_fini(&again);
    }
}

/* What a detecting decoder takes the bytes for, and how many digits. */
static int
detect(const char *bytes, size_t max_payload, enum feeding how,
       enum frame_status *status)
{
    struct frame_decoder d;
    struct buf seen;
    struct err err;
    int digits;

    frame_decoder_init(&d, FRAME_DIGITS_DETECT, max_payload);
    buf_init(&seen, 10000);
    *status = feed(&d, bytes, strlen(bytes), how, &seen, &err);
    digits = d.digits;
    buf_fini(&seen);
    frame_decoder_fini(&d);
    return digits;
}

TEST(frame_digits_are_detected_from_the_first_header)
{
    static const struct {
        const char *bytes;
        size_t max_payload;
        int digits;
        enum frame_status status;
    } cases[] = {
        {"IN00000000000002{}PI00000000000000", 1000, 14, FRAME_PARTIAL},
        {"IN000002{}PI000000", 1000, 6, FRAME_PARTIAL},
        {"IN000002[]GE0000011GE000002", 1000, 6, FRAME_PARTIAL},
        {"PI000000IN000002{}", 1000, 6, FRAME_PARTIAL},
        {"PI000000", 1000, 0, FRAME_PARTIAL},
        {"PI00000", 1000, 0, FRAME_PARTIAL},
        {"PI0000000", 1000, 14, FRAME_PARTIAL},
        {"", 1000, 0, FRAME_PARTIAL},
        /* A payload of digits: the cap tells. */
        {"GE0000011", 1000, 6, FRAME_PARTIAL},
        {"GE0000011", (size_t)1 << 30, 14, FRAME_PARTIAL},
        {"IN00000a", 1000, 0, FRAME_BROKEN},
        {"in000002{}", 1000, 0, FRAME_BROKEN},
        {"IN000000000000x0", 1000, 14, FRAME_BROKEN},
        {"IN999999{", 1000, 0, FRAME_BROKEN},
        {"IN00000000001001", 1000, 14, FRAME_BROKEN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int how = WHOLE; how < N_FEEDINGS; how++) {
            enum frame_status status;

            CHECK_EQ(detect(cases[i].bytes, cases[i].max_payload,
                            (enum feeding)how, &status),
                     cases[i].digits);
            CHECK_EQ(status, cases[i].status);
        }
}
