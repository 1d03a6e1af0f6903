/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "bridge/relay.h"
#include "core/err.h"
#include "core/log.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct log silent = {.fd = -1};

/* A relay, and the dispatcher's end of its socket. */
static int
begin(struct relay *r, size_t max_payload)
{
    int pair[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    relay_init(r, pair[0], max_payload, &silent);
    return pair[1];
}

static enum message
hear(struct relay *r, const char *text)
{
    enum message m;
    struct err err;

    CHECK(relay_receive(r, text, strlen(text), true, &m, &err) == 0);
    return m;
}

/* What the dispatcher finds, as text; "" when there is nothing. */
static const char *
found(int fd)
{
    static char text[65536];
    ssize_t n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

    text[n > 0 ? n : 0] = '\0';
    return n == 0 ? "end" : text;
}

static void
say(int fd, const char *text)
{
    CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
serve(struct relay *r)
{
    struct err err;

    CHECK_EQ(relay_serve(r, &err), 0);
}

/* The next message, which is sent; "" when there is none. */
static const char *
next(struct relay *r)
{
    static char text[4096];
    const struct relay_message *m = relay_next(r);

    if (m == NULL)
        return "";
    snprintf(text, sizeof text, "%.*s", (int)m->len, m->bytes);
    relay_sent(r);
    return text;
}

TEST(bridge_relay_puts_parts_together)
{
    static const char text[] = "{\"type\":\"GE\",\"content\":\"2\"}";
    struct relay r;
    enum message m;
    int fd = begin(&r, 1000);

    for (size_t i = 0; i < sizeof text - 1; i++) {
        CHECK(relay_receive(&r, text + i, 1, i == sizeof text - 2, &m, NULL) ==
              0);
        CHECK_EQ(m, i == sizeof text - 2 ? MESSAGE_FRAME : MESSAGE_NOTHING);
    }
    CHECK_EQ(r.dialect, DIALECT_JSON);
    serve(&r);
    CHECK_STR(found(fd), "GE000000000000012");
    relay_fini(&r);
    close(fd);
}

/* What came of a message before the connection was lost is no part of one that
 * comes over the next. */
TEST(bridge_relay_forgets_half_a_message)
{
    struct relay r;
    enum message m;
    int fd = begin(&r, 1000);

    hear(&r, "IN{}");
    CHECK(relay_receive(&r, "GE1", 3, false, &m, NULL) == 0);
    relay_forget(&r);
    hear(&r, "GE2");
    serve(&r);
    CHECK_STR(found(fd), "IN00000000000002{}GE000000000000012");
    relay_fini(&r);
    close(fd);
}

TEST(bridge_relay_waits_for_the_dialect)
{
    struct relay r;
    int fd = begin(&r, 1000);

    say(fd, "ID00000000000000TR000000");
    serve(&r);
    CHECK_EQ(relay_events(&r), 0);
    CHECK(relay_next(&r) == NULL);
    hear(&r, "IN{}");
    serve(&r);
    CHECK_STR(next(&r), "ID");
    CHECK_STR(next(&r), "");
    say(fd, "00000002{}");
    serve(&r);
    CHECK_STR(next(&r), "TR{}");
    CHECK_EQ(relay_events(&r), POLLIN);
    close(fd);
    serve(&r);
    CHECK(r.ended);
    CHECK_EQ(relay_events(&r), 0);
    relay_fini(&r);
}

TEST(bridge_relay_keeps_a_message_until_it_is_sent)
{
    struct relay r;
    int fd = begin(&r, 1000);

    hear(&r, "IN{}");
    say(fd, "ID00000000000000");
    serve(&r);
    CHECK(relay_next(&r) != NULL);
    CHECK(relay_next(&r) == relay_next(&r));
    CHECK_STR(next(&r), "ID");
    CHECK_EQ(r.waiting, 0);
    relay_fini(&r);
    close(fd);
}

/* A manager that does not read: the dispatcher is not read either. */
TEST(bridge_relay_reads_no_more_than_it_can_pass_on)
{
    char *payload = calloc(1, 60001);
    struct relay r;
    size_t sent = 0, n = 0;
    char header[20];
    int fd = begin(&r, 1 << 20);

    hear(&r, "IN{}");
    memset(payload, 'x', 60000);
    snprintf(header, sizeof header, "TR%014d", 60000);
    for (int quiet = 0; quiet < 3;) {
        const char *from = sent % 60016 < 16 ? header + sent % 60016
                                             : payload + sent % 60016 - 16;
        size_t len =
            sent % 60016 < 16 ? 16 - sent % 60016 : 60016 - sent % 60016;
        ssize_t k = send(fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);

        sent += k > 0 ? (size_t)k : 0;
        quiet = k > 0 ? 0 : quiet + 1;
        serve(&r);
        CHECK(r.waiting <= 2 * RELAY_FULL);
    }
    CHECK(r.waiting > RELAY_FULL);
    CHECK_EQ(relay_events(&r) & POLLIN, 0);
    /* Nothing of it is lost. */
    while (relay_next(&r) != NULL || relay_events(&r) & POLLIN) {
        if (relay_next(&r) != NULL) {
            CHECK_EQ(relay_next(&r)->len, 60002);
            relay_sent(&r);
            n++;
        }
        serve(&r);
        if (relay_next(&r) == NULL)
            break;
    }
    CHECK_EQ(n, sent / 60016);
    free(payload);
    relay_fini(&r);
    close(fd);
}

/* A dispatcher that does not read: the manager is to be held. */
TEST(bridge_relay_holds_while_the_dispatcher_does_not_read)
{
    char *text = calloc(1, 60003);
    size_t total = 0, messages = 0, got = 0;
    struct relay r;
    enum message m;
    ssize_t n;
    int fd = begin(&r, 1 << 20);

    memset(text, 'x', 60002);
    text[0] = 'F', text[1] = 'D';
    while (!relay_holding(&r)) {
        CHECK(relay_receive(&r, text, 60002, true, &m, NULL) == 0);
        serve(&r);
        messages++;
        CHECK(messages < 1000);
    }
    CHECK(relay_events(&r) & POLLOUT);
    do {
        static char into[1 << 16];

        n = recv(fd, into, sizeof into, MSG_DONTWAIT);
        if (n > 0)
            got += (size_t)n;
        serve(&r);
    } while (n > 0);
    total = messages * (60000 + 16);
    CHECK_EQ(got, total);
    CHECK(!relay_holding(&r));
    CHECK_EQ(relay_events(&r), POLLIN);
    free(text);
    relay_fini(&r);
    close(fd);
}

/* The dispatcher says its own line about a payload over its limit; only what
 * cannot even be kept ends here. */
TEST(bridge_relay_refuses_what_cannot_be_kept)
{
    static char part[1000];
    struct relay r;
    enum message m;
    struct err err;
    int fd = begin(&r, 100);

    memset(part, 'x', sizeof part);
    part[0] = 'I', part[1] = 'N';
    CHECK(relay_receive(&r, part, 800, true, &m, &err) == 0);
    CHECK_EQ(m, MESSAGE_FRAME);
    serve(&r);
    CHECK_HAS(found(fd), "IN00000000000798xxx");
    for (int i = 0; i < 3; i++)
        CHECK(relay_receive(&r, part, sizeof part, false, &m, &err) == 0);
    CHECK_EQ(r.message.len, 1000);
    CHECK_EQ(relay_receive(&r, part, 1, true, &m, &err), -1);
    CHECK_STR(err.text, "the manager's message of 3001 bytes is over the limit "
                        "of 1624, or there is no memory for it");
    relay_fini(&r);
    close(fd);
}

TEST(bridge_relay_finishes_behind_what_waits)
{
    struct relay r;
    int fd = begin(&r, 1000);

    hear(&r, "GE1");
    say(fd, "ID00000000000000");
    serve(&r);
    CHECK(relay_next(&r) != NULL);
    hear(&r, "TE");
    relay_finish(&r);
    hear(&r, "GE5"); /* too late */
    serve(&r);
    CHECK_STR(found(fd), "GE000000000000011TE00000000000000");
    CHECK_STR(found(fd), "end");
    say(fd, "NO00000000000000");
    serve(&r);
    CHECK_STR(next(&r), "");
    CHECK(!r.ended);
    close(fd);
    serve(&r);
    CHECK(r.ended);
    relay_fini(&r);
}

/* It has crashed with much to read before it. */
TEST(bridge_relay_holds_for_nobody)
{
    char *text = calloc(1, 2 * RELAY_FULL + 3);
    struct relay r;
    enum message m;
    int fd = begin(&r, 4 * RELAY_FULL);

    memset(text, 'x', 2 * RELAY_FULL + 2);
    text[0] = 'F', text[1] = 'D';
    CHECK(relay_receive(&r, text, 2 * RELAY_FULL, true, &m, NULL) == 0);
    serve(&r);
    CHECK(relay_holding(&r));
    close(fd);
    serve(&r);
    CHECK(r.ended);
    CHECK(!relay_holding(&r));
    CHECK_EQ(relay_events(&r), 0);
    CHECK(relay_receive(&r, text, 2 * RELAY_FULL, true, &m, NULL) == 0);
    CHECK_EQ(m, MESSAGE_FRAME);
    CHECK(!relay_holding(&r));
    relay_error(&r, "it has \xff crashed");
    CHECK_STR(next(&r), "ERit has ? crashed");
    free(text);
    relay_fini(&r);
}

TEST(bridge_relay_ends_when_frames_are_none)
{
    struct relay r;
    struct err err;
    int fd = begin(&r, 1000);

    hear(&r, "IN{}");
    say(fd, "ID00000000000000Hello");
    CHECK_EQ(relay_serve(&r, &err), -1);
    CHECK_HAS(err.text, "the dispatcher: ");
    CHECK(r.ended);
    CHECK_STR(next(&r), "ID");
    relay_fini(&r);
    close(fd);
}
