/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "bridge_script.h"

#include "bridge/bridge.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALL "call 127.0.0.1 /tuner; "
#define CALL6 "call ::1 /tuner; "

TEST(bridge_parts_from_3_0)
{
    static const char *const steps[] = {
        "up",
        "say {\"type\":\"IN\",\"content\":\"{}\"}",
        "expect IN00000000000002{}",
        "dispatcher ID00000000000000",
        "say {\"type\":\"_nop_\"}",
        "say {\"type\":\"TE\"}",
        "expect TE00000000000000",
        "say {\"type\":\"_bye_\",\"reason\":\"TE command\"}",
        "gone 4000",
        NULL};

    play(steps, NULL, 0, CALL "{\"type\": \"ID\", \"content\": \"\"}; ", "");
}

TEST(bridge_parts_from_2_10)
{
    static const char *const steps[] = {"up",
                                        "say IN{}",
                                        "dispatcher ID00000000000000",
                                        "say TE",
                                        "dispatcher NO00000000000001a",
                                        "ends",
                                        NULL};

    play(steps, NULL, 0, CALL "ID; NOa; close 1000; ", "");
}

/* The manager is told why, keeps its connection, and ends it. */
TEST(bridge_tells_of_a_crash_and_waits_for_te)
{
    static const char *const plain[] = {
        "up", "say IN{}", "ends", "say ME{}", "say GE1", "say TE", NULL};
    static const char *const json[] = {"up",        "say {\"type\":\"IN\"}",
                                       "ends",      "say {\"type\":\"TE\"}",
                                       "gone 4000", NULL};

    play(plain, "ended by SIGSEGV", 0, CALL "ERended by SIGSEGV; close 1000; ",
         "");
    play(json, NULL, 0,
         CALL "{\"type\": \"ER\", \"content\": \"the dispatcher has ended "
              "before the manager's TE\"}; ",
         "");
}

/* Of wrong arguments, before the manager has said a word. */
TEST(bridge_tells_of_an_end_before_the_connection)
{
    static const char *const steps[] = {"ends", "up", "say IN{}", "say TE",
                                        NULL};

    play(steps, "no tuner 'x'", 0, CALL "ERno tuner 'x'; close 1000; ", "");
}

TEST(bridge_tells_of_it_over_the_next_connection)
{
    static const char *const steps[] = {"up", "say IN{}", "gone", "ends",
                                        "up", "say TE",   NULL};

    play(steps, "crashed", 0, CALL CALL "ERcrashed; close 1000; ", "");
}

TEST(bridge_sends_again_what_was_only_begun)
{
    static const char *const steps[] = {"up",
                                        "say IN{}",
                                        "dispatcher ID00000000000000",
                                        "slow",
                                        "dispatcher TR00000000000001a",
                                        "gone",
                                        "up",
                                        "say TE",
                                        NULL};

    play(steps, NULL, 0, CALL "ID; begin TRa; " CALL "TRa; close 1000; ", "");
}

/* While there is no connection nothing is lost and nothing comes twice. */
TEST(bridge_keeps_what_it_cannot_send)
{
    static const char *const steps[] = {
        "up",
        "say IN{}",
        "gone",
        "dispatcher ID00000000000000TR00000000000001aTR00000000000001b",
        "fail refused",
        "fail refused",
        "up",
        "say TE",
        NULL};

    play(steps, NULL, 0, CALL CALL CALL6 CALL "ID; TRa; TRb; close 1000; ", "");
}

TEST(bridge_tries_both_addresses)
{
    static const char *const steps[] = {"fail refused", "up", "say GE1",
                                        "say TE", NULL};

    play(steps, NULL, 0, CALL CALL6 "close 1000; ", "");
}

TEST(bridge_ends_the_dispatcher_when_it_is_not_wanted)
{
    static const char *const steps[] = {"up", "gone 4080", NULL};

    play(steps, NULL, -1, CALL,
         "ws://localhost:8/tuner: the manager waits no more: we came after its "
         "10 seconds (close code 4080)");
}

TEST(bridge_refuses_an_address_and_ends_the_dispatcher)
{
    struct bridge_setup setup = {.url = "wss://localhost/tuner"};
    struct err err;
    int pair[2];
    char c;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    setup.frames = pair[0];
    CHECK_EQ(bridge_run(&setup, &err), -1);
    CHECK_STR(err.text,
              "'wss://localhost/tuner': expected ws://HOST:PORT/PATH");
    CHECK_EQ(read(pair[1], &c, 1), 0);
}

/* A dispatcher whose payloads have 10 bytes at most; `did` is what the bridge
 * ends with. */
static void
play_short(const char *const *steps, const char *did)
{
    static const struct log silent = {.fd = -1};
    struct bridge_setup setup = {.url = "ws://localhost:8/tuner",
                                 .epitaph = epitaph,
                                 .arg = &script,
                                 .log = &silent,
                                 .max_payload = 10};
    struct err err;
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    script.steps = steps;
    script.fd = pair[1];
    buf_init(&script.did, 1 << 20);
    setup.frames = pair[0];
    CHECK_EQ(bridge_run(&setup, &err), 0);
    CHECK_STR(buf_text(&script.did), did);
    buf_fini(&script.did);
}

#define TOO_LONG                                                           \
    "ERthe manager's message of 2095 bytes is over the limit of 1084, or " \
    "there is no memory for it; "

TEST(bridge_breaks_off_after_a_message_it_cannot_keep)
{
    static char long_step[2100] = "say FD";
    const char *const steps[] = {
        "up",     "say IN{}", "expect IN00000000000002{}", long_step, "ends",
        "say TE", NULL};

    memset(long_step + 6, 'x', sizeof long_step - 7);
    play_short(steps, CALL TOO_LONG "close 1000; ");
}

/* An answer is on its way just then. */
TEST(bridge_breaks_off_in_the_middle_of_an_answer)
{
    static char long_step[2100] = "say FD";
    const char *const steps[] = {
        "up",      "say IN{}", "slow", "dispatcher TR00000000000001a",
        long_step, "ends",     "fast", "say TE",
        NULL};

    memset(long_step + 6, 'x', sizeof long_step - 7);
    play_short(steps, CALL "begin TRa; " TOO_LONG "close 1000; ");
}
