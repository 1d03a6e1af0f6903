/* SPDX-License-Identifier: MIT */
/* The life of a connection, by a clock of our own. */
#include "t.h"

#include "bridge/link.h"
#include "core/err.h"

#include <stddef.h>
#include <string.h>

#define MS INT64_C(1000000)

/* When the attempts begin that all fail at once, in ms from `from`; the last
 * entry is when it gives up.  Returns how many entries there are. */
static size_t
attempts(struct link *l, int64_t from, int64_t at[], size_t max)
{
    int64_t now = from;
    size_t n = 0;

    while (n < max) {
        enum link_act act = link_next(l, now);

        if (act == LINK_CALL || act == LINK_FINISHED)
            at[n++] = (now - from) / MS;
        if (act == LINK_FINISHED)
            return n;
        if (act == LINK_CALL)
            link_failed(l);
        else
            CHECK_EQ(act, LINK_WAIT);
        if (link_due(l) > now)
            now = link_due(l);
    }
    return n;
}

static void
connect_at(struct link *l, int64_t now)
{
    link_init(l, now);
    CHECK_EQ(link_next(l, now), LINK_CALL);
    CHECK_EQ(l->phase, LINK_CALLING);
    link_up(l, now);
    CHECK_EQ(link_next(l, now), LINK_WAIT);
}

/* Connected, and spoken to in this dialect. */
static void
connect_as(struct link *l, enum dialect d, int64_t now)
{
    connect_at(l, now);
    l->dialect = d;
    link_pong(l, now);
}

TEST(bridge_link_calls_at_once_and_gives_up_after_ten_seconds)
{
    struct link l;
    struct err err;
    int64_t at[40];
    size_t n;

    link_init(&l, 5000 * MS);
    n = attempts(&l, 5000 * MS, at, 40);
    CHECK_EQ(at[0], 0);
    CHECK(n >= 10 && at[1] <= 100);
    CHECK_EQ(at[n - 1], LINK_CONNECT_LIMIT_MS);
    CHECK(at[n - 2] < LINK_CONNECT_LIMIT_MS);
    CHECK_EQ(link_next(&l, 99999 * MS), LINK_FINISHED);
    CHECK_EQ(link_due(&l), INT64_MAX);
    CHECK_EQ(link_verdict(&l, &err), -1);
    CHECK_STR(err.text, "no manager could be reached within 10 seconds");
}

TEST(bridge_link_reconnects_when_the_python_client_does)
{
    static const int64_t json[] = {0, 1000, 3000, 6000, 10000};
    static const int64_t plain[] = {0, 1000, 10000, 11000};
    int64_t at[40];
    struct link l;
    struct err err;
    size_t n;

    connect_as(&l, DIALECT_JSON, 0);
    link_closed(&l, 7000 * MS, 0);
    n = attempts(&l, 7000 * MS, at, 40);
    CHECK(memcmp(at, json, sizeof json) == 0);
    CHECK_EQ(at[n - 1], 30000);
    CHECK_EQ(link_verdict(&l, &err), -1);
    CHECK_STR(err.text, "the manager cannot be reached any more");

    connect_as(&l, DIALECT_PLAIN, 0);
    link_closed(&l, 7000 * MS, 0);
    CHECK_EQ(attempts(&l, 7000 * MS, at, 40), 4);
    CHECK(memcmp(at, plain, sizeof plain) == 0);
}

/* Each loss has its own 30 seconds; a server that hangs up at once has one. */
TEST(bridge_link_counts_losses_that_were_connections)
{
    struct link l;
    int64_t now = 0;

    connect_as(&l, DIALECT_JSON, now);
    for (int i = 0; i < 100; i++) {
        now += 20000 * MS;
        link_closed(&l, now, 1000);
        CHECK_EQ(link_next(&l, now), LINK_CALL);
        link_up(&l, now);
        link_pong(&l, now);
    }
    link_closed(&l, now, 1000);
    for (int calls = 0;; calls++) {
        enum link_act act = link_next(&l, now);

        if (act == LINK_FINISHED) {
            CHECK_EQ(calls, 10);
            break;
        }
        CHECK_EQ(act, LINK_CALL);
        link_up(&l, now);
        link_closed(&l, now + 10 * MS, 1000);
        now = link_due(&l);
    }
}

TEST(bridge_link_abandons_a_call_that_nobody_answers)
{
    struct link l;

    link_init(&l, 0);
    CHECK_EQ(link_next(&l, 0), LINK_CALL);
    CHECK_EQ(link_next(&l, (LINK_CALL_LIMIT_MS - 1) * MS), LINK_WAIT);
    CHECK_EQ(link_due(&l), LINK_CALL_LIMIT_MS * MS);
    CHECK_EQ(link_next(&l, LINK_CALL_LIMIT_MS * MS), LINK_ABANDON);
    link_failed(&l);
    CHECK_EQ(link_next(&l, LINK_CALL_LIMIT_MS * MS), LINK_CALL);
}

TEST(bridge_link_lets_3_0_close)
{
    struct link l;

    connect_as(&l, DIALECT_JSON, 0);
    link_heard(&l, MESSAGE_TERMINATE);
    link_heard(&l, MESSAGE_BYE);
    CHECK_EQ(link_next(&l, 0), LINK_WAIT);
    link_closed(&l, 6 * MS, 4000);
    CHECK_EQ(link_next(&l, 6 * MS), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, NULL), 0);
    CHECK_EQ(link_close_code(&l), 4000);
}

/* Its TE without a close, which NNI's never does. */
TEST(bridge_link_does_not_wait_for_a_close_for_ever)
{
    struct link l;

    connect_as(&l, DIALECT_JSON, 0);
    link_heard(&l, MESSAGE_TERMINATE);
    link_ended(&l);
    CHECK_EQ(link_next(&l, 10 * MS), LINK_WAIT);
    CHECK_EQ(link_due(&l), (10 + LINK_CLOSE_LIMIT_MS) * MS);
    CHECK_EQ(link_next(&l, (10 + LINK_CLOSE_LIMIT_MS) * MS), LINK_HANG_UP);
    link_closed(&l, (10 + LINK_CLOSE_LIMIT_MS) * MS, 0);
    CHECK_EQ(link_next(&l, 9999 * MS), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, NULL), 0);
}

TEST(bridge_link_closes_2_10_after_te_and_the_end_alone)
{
    struct link l;

    connect_as(&l, DIALECT_PLAIN, 0);
    link_ended(&l); /* it died: ER is sent, and nothing is closed */
    CHECK_EQ(link_next(&l, 1000 * MS), LINK_WAIT);
    link_heard(&l, MESSAGE_FRAME);
    CHECK_EQ(link_next(&l, 2000 * MS), LINK_WAIT);
    link_heard(&l, MESSAGE_TERMINATE);
    CHECK_EQ(link_next(&l, 3000 * MS), LINK_CLOSE);
    CHECK_EQ(link_next(&l, 3000 * MS), LINK_WAIT);
    CHECK_EQ(link_close_code(&l), 1000);
    link_closed(&l, 3001 * MS, 1000);
    CHECK_EQ(link_verdict(&l, NULL), 0);

    connect_as(&l, DIALECT_PLAIN, 0);
    link_heard(&l, MESSAGE_TERMINATE);
    CHECK_EQ(link_next(&l, 1000 * MS), LINK_WAIT);
    link_ended(&l);
    CHECK_EQ(link_next(&l, 2000 * MS), LINK_CLOSE);
}

TEST(bridge_link_parts_by_bye_and_by_4000)
{
    struct link l;

    connect_as(&l, DIALECT_JSON, 0);
    link_heard(&l, MESSAGE_BYE);
    link_closed(&l, 0, 0);
    CHECK_EQ(link_next(&l, 0), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, NULL), 0);

    connect_as(&l, DIALECT_JSON, 0);
    link_closed(&l, 0, 4000);
    CHECK_EQ(link_next(&l, 0), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, NULL), 0);
}

/* Up, or between two attempts; but who has parted has nothing to say to it. */
TEST(bridge_link_calls_nobody_when_the_manager_is_gone)
{
    struct link l;
    struct err err;

    for (int down = 0; down < 2; down++) {
        connect_as(&l, DIALECT_JSON, 0);
        if (down)
            link_closed(&l, 0, 0);
        link_gone(&l, "it is gone");
        CHECK_EQ(link_next(&l, 60000 * MS), LINK_FINISHED);
        CHECK_EQ(link_verdict(&l, &err), -1);
        CHECK_STR(err.text, "it is gone");
    }
    connect_as(&l, DIALECT_JSON, 0);
    link_heard(&l, MESSAGE_TERMINATE);
    link_gone(&l, "it is gone");
    CHECK_EQ(link_next(&l, 0), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, &err), 0);
}

TEST(bridge_link_takes_its_place_back_once)
{
    static const unsigned codes[] = {4001, 1001};

    for (size_t i = 0; i < 2; i++) {
        int64_t later = (LINK_CONTEST_MS + 1000) * MS;
        struct link l;
        struct err err;

        connect_as(&l, DIALECT_JSON, 0);
        link_closed(&l, 0, codes[i]);
        CHECK_EQ(link_next(&l, 0), LINK_CALL);
        link_up(&l, 0);
        link_pong(&l, 0);
        /* A stray client, long after the first one. */
        link_closed(&l, later, codes[i]);
        CHECK_EQ(link_next(&l, later), LINK_CALL);
        link_up(&l, later);
        link_pong(&l, later);
        link_closed(&l, later + 100 * MS, codes[i]);
        CHECK_EQ(link_next(&l, later + 100 * MS), LINK_FINISHED);
        CHECK_EQ(link_verdict(&l, &err), -1);
        CHECK_HAS(err.text, "another dispatcher has connected in our place");
    }
}

TEST(bridge_link_is_told_that_it_is_not_wanted)
{
    static const struct {
        unsigned code;
        const char *said;
    } cases[] = {
        {4030, "the manager already has a dispatcher (close code 4030)"},
        {4080, "the manager waits no more: we came after its 10 seconds "
               "(close code 4080)"},
    };

    for (size_t i = 0; i < 2; i++) {
        struct link l;
        struct err err;

        connect_at(&l, 0);
        link_closed(&l, 0, cases[i].code);
        CHECK_EQ(link_next(&l, 0), LINK_FINISHED);
        CHECK_EQ(link_verdict(&l, &err), -1);
        CHECK_STR(err.text, cases[i].said);
    }
}

/* The dispatcher died, the manager was told, and went without a TE. */
TEST(bridge_link_does_not_come_back_for_nothing)
{
    struct link l;
    struct err err;

    connect_as(&l, DIALECT_JSON, 0);
    link_ended(&l);
    link_closed(&l, 9000 * MS, 0);
    CHECK_EQ(link_next(&l, 9000 * MS), LINK_FINISHED);
    CHECK_EQ(link_verdict(&l, &err), -1);
    CHECK_STR(err.text, "the manager left without a TE");
}

TEST(bridge_link_pings_a_silent_manager_and_hangs_up)
{
    int64_t now = 0;
    struct link l;

    connect_at(&l, 0);
    CHECK_EQ(link_due(&l), LINK_PING_MS * MS);
    CHECK_EQ(link_next(&l, LINK_PING_MS * MS - 1), LINK_WAIT);
    CHECK_EQ(link_next(&l, LINK_PING_MS * MS), LINK_PING);
    link_pong(&l, LINK_PING_MS * MS + MS);
    CHECK_EQ(link_due(&l), 2 * LINK_PING_MS * MS + MS);

    now = link_due(&l);
    CHECK_EQ(link_next(&l, now), LINK_PING);
    for (int i = 1; i < LINK_LOOKS; i++) {
        now = link_due(&l);
        CHECK_EQ(link_next(&l, now), LINK_WAIT);
    }
    now = link_due(&l);
    CHECK_EQ(link_next(&l, now), LINK_HANG_UP);
}

/* A process that was stopped for an hour looks once when it goes on: the
 * manager's pong may lie there unread. */
TEST(bridge_link_does_not_blame_the_manager_for_its_own_sleep)
{
    int64_t hour = INT64_C(3600000) * MS;
    struct link l;

    connect_at(&l, 0);
    CHECK_EQ(link_next(&l, LINK_PING_MS * MS), LINK_PING);
    CHECK_EQ(link_next(&l, hour), LINK_WAIT);
    link_pong(&l, hour);
    CHECK_EQ(link_due(&l), hour + LINK_PING_MS * MS);
}

/* Who does not read sees no ping, and 2.10 wants a pong within 5 s. */
TEST(bridge_link_sends_pongs_while_it_does_not_read)
{
    int64_t now = 0;
    struct link l;

    connect_at(&l, 0);
    link_hold(&l, 0, true);
    for (int i = 0; i < 100; i++) {
        int64_t due = link_due(&l);

        CHECK(due - now <= 5000 * MS / 2);
        now = due;
        CHECK_EQ(link_next(&l, now), LINK_PONG);
        CHECK_EQ(link_next(&l, now), LINK_WAIT);
    }
    link_hold(&l, now, false);
    CHECK_EQ(link_next(&l, now + LINK_HOLD_PONG_MS * MS), LINK_WAIT);
    CHECK_EQ(link_due(&l), now + LINK_PING_MS * MS);
}
