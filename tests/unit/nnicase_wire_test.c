/* SPDX-License-Identifier: MIT */
/* The cases of NNI's own test_protocol.py and ipcInterface.test.ts. */
#include "t.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"

#include <string.h>

#define ZH "\xe4\xbd\xa0\xe5\xa5\xbd" /* two characters */

static void
check_send(const char *code, const char *payload, const char *want)
{
    struct buf out;

    buf_init(&out, 1000);
    frame_encode(&out, FRAME_DIGITS, code, payload, strlen(payload));
    CHECK_STR(buf_text(&out), want);
    buf_fini(&out);
}

/* One byte at a time. */
static void
check_receive(const char *bytes, const char *code, const char *payload)
{
    struct frame_decoder d;
    struct frame f;
    struct err err = {0};
    size_t room;

    frame_decoder_init(&d, FRAME_DIGITS, 1000);
    for (; *bytes != '\0'; bytes++) {
        CHECK_EQ(frame_next(&d, &f, &err), FRAME_PARTIAL);
        *frame_room(&d, &room) = *bytes;
        frame_filled(&d, 1);
    }
    CHECK_EQ(frame_next(&d, &f, &err), FRAME_READY);
    CHECK_STR(f.code, code);
    CHECK_EQ(f.len, strlen(payload));
    CHECK(memcmp(f.payload, payload, f.len) == 0);
    CHECK_EQ(frame_pending(&d), 0);
    frame_decoder_fini(&d);
}

TEST(nni_test_protocol_send_en)
{
    check_send("TR", "CONTENT", "TR00000000000007CONTENT");
}

TEST(nni_test_protocol_send_zh)
{
    check_send("TR", ZH, "TR00000000000006" ZH);
}

TEST(nni_test_protocol_receive_en)
{
    check_receive("IN00000000000005hello", "IN", "hello");
}

TEST(nni_test_protocol_receive_zh)
{
    check_receive("IN00000000000006" ZH, "IN", ZH);
}

TEST(nni_ipc_interface_commands_pass)
{
    static const char *const payloads[] = {"", "123", "hello", ZH};
    static const char *const codes[] = {"IN", "ME", "KI"};
    char bytes[100];

    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < 4; i++) {
            struct buf out;

            buf_init(&out, sizeof bytes);
            frame_encode(&out, FRAME_DIGITS, codes[c], payloads[i],
                         strlen(payloads[i]));
            check_receive(buf_text(&out), codes[c], payloads[i]);
            buf_fini(&out);
        }
}

/* NNI's manager dies of it; here it is a frame, and costs itself. */
TEST(nni_ipc_interface_unknown_code)
{
    struct frame f = {.code = "FE", .payload = "1", .len = 1};
    struct err err = {0};

    check_receive("FE000000000000011", "FE", "1");
    CHECK(command_decode(&f, 1, &err) == NULL);
    CHECK_HAS(err.text, "'FE'");
}
