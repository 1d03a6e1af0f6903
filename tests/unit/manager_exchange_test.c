/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/exchange.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct buf seen;

static void
take(void *ctx, const struct frame *frame)
{
    CHECK(ctx == &seen);
    buf_printf(&seen, "%s:%.*s ", frame->code, (int)frame->len, frame->payload);
}

struct ends {
    struct exchange x;
    int to, from; /* the other side's */
};

static void
open_ends(struct ends *e)
{
    int out[2], in[2];

    CHECK_EQ(pipe2(out, O_NONBLOCK), 0);
    CHECK_EQ(pipe2(in, O_NONBLOCK), 0);
    exchange_init(&e->x);
    exchange_open(&e->x, out[1], in[0]);
    e->from = out[0];
    e->to = in[1];
    buf_init(&seen, 1 << 20);
    signal(SIGPIPE, SIG_IGN);
}

TEST(manager_exchange_reads_frames_byte_by_byte)
{
    static const char text[] = "ID00000000000000TR00000000000003abc";
    struct ends e;

    open_ends(&e);
    for (const char *p = text; *p != '\0'; p++) {
        CHECK_EQ(write(e.to, p, 1), 1);
        CHECK_EQ(exchange_read(&e.x, take, &seen, NULL), 1);
    }
    CHECK_STR(buf_text(&seen), "ID: TR:abc ");
    close(e.to);
    CHECK_EQ(exchange_read(&e.x, take, &seen, NULL), 0);
    exchange_close(&e.x);
    buf_fini(&seen);
}

TEST(manager_exchange_keeps_what_the_pipe_does_not_take)
{
    struct ends e;
    size_t got = 0, want = 50 * (16 + 4096);
    char text[4096];

    open_ends(&e);
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 50; i++)
        exchange_send(&e.x, "ME", text, sizeof text);
    CHECK_EQ(exchange_pending(&e.x), want);
    while (exchange_pending(&e.x) > 0) {
        ssize_t n;

        CHECK_EQ(exchange_flush(&e.x, NULL), 0);
        n = read(e.from, text, sizeof text);
        CHECK(n > 0);
        got += (size_t)n;
    }
    for (ssize_t n; (n = read(e.from, text, sizeof text)) > 0;)
        got += (size_t)n;
    CHECK_EQ(got, want);
    exchange_close(&e.x);
    buf_fini(&seen);
}

TEST(manager_exchange_tells_that_the_other_side_is_gone)
{
    struct ends e;
    struct err err;

    open_ends(&e);
    close(e.from);
    exchange_send(&e.x, "GE", "1", 1);
    CHECK_EQ(exchange_flush(&e.x, &err), -1);
    CHECK_HAS(err.text, "cannot write to the dispatcher: Broken pipe");
    exchange_send(&e.x, "GE", "1", 1); /* both are kept for another one */
    CHECK_EQ(exchange_pending(&e.x), 34);
    CHECK_EQ(exchange_flush(&e.x, &err), 0);
    CHECK_EQ(write(e.to, "hello", 5), 5);
    CHECK_EQ(exchange_read(&e.x, take, &seen, &err), -1);
    exchange_close(&e.x);
    buf_fini(&seen);
}

/* Reads all that the pipe holds. */
static void
slurp(struct ends *e, struct buf *into)
{
    char text[65536];

    for (ssize_t n; (n = read(e->from, text, sizeof text)) > 0;)
        buf_add(into, text, (size_t)n);
}

static void
reopen(struct ends *e)
{
    int out[2], in[2];

    exchange_hold(&e->x);
    close(e->from);
    close(e->to);
    CHECK_EQ(pipe2(out, O_NONBLOCK), 0);
    CHECK_EQ(pipe2(in, O_NONBLOCK), 0);
    exchange_open(&e->x, out[1], in[0]);
    e->from = out[0];
    e->to = in[1];
}

TEST(manager_exchange_sends_again_what_lies_behind)
{
    struct ends e;
    struct err err;
    struct buf got;

    open_ends(&e);
    buf_init(&got, 1 << 20);
    exchange_base(&e.x, 0);
    exchange_send(&e.x, "IN", "{}", 2);
    exchange_send(&e.x, "GE", "1", 1);
    CHECK_EQ(exchange_flush(&e.x, NULL), 0);
    exchange_send(&e.x, "PI", "", 0);
    reopen(&e);
    exchange_send(&e.x, "GE", "2", 1); /* it waits */
    CHECK_EQ(exchange_flush(&e.x, NULL), 0);
    slurp(&e, &got);
    CHECK_EQ(got.len, 0);
    CHECK_EQ(exchange_resume(&e.x, 5, take, &seen, &err), -1);
    CHECK_HAS(err.text, "ends with command 5, expected 0 to 4");
    CHECK_EQ(exchange_resume(&e.x, 1, take, &seen, &err), 0);
    CHECK_STR(buf_text(&seen), "GE:1 PI: GE:2 ");
    CHECK_EQ(exchange_flush(&e.x, NULL), 0);
    slurp(&e, &got);
    CHECK_STR(buf_text(&got), "GE000000000000011PI00000000000000"
                              "GE000000000000012");
    CHECK_EQ(exchange_pending(&e.x), 0);
    exchange_close(&e.x);
    buf_fini(&got);
    buf_fini(&seen);
}

TEST(manager_exchange_counts_from_where_another_stopped)
{
    struct ends e;
    struct buf got;

    open_ends(&e);
    buf_init(&got, 1 << 20);
    e.x.held = true;
    exchange_send(&e.x, "PI", "", 0);
    CHECK_EQ(exchange_resume(&e.x, 40, take, &seen, NULL), 0);
    exchange_send(&e.x, "TE", "", 0);
    CHECK_EQ(exchange_flush(&e.x, NULL), 0);
    exchange_close_to(&e.x);
    exchange_send(&e.x, "PI", "", 0); /* it is over */
    reopen(&e);
    CHECK_EQ(exchange_resume(&e.x, 41, NULL, NULL, NULL), 0);
    CHECK_EQ(exchange_flush(&e.x, NULL), 0);
    slurp(&e, &got);
    CHECK_STR(buf_text(&got), "TE00000000000000");
    exchange_close(&e.x);
    buf_fini(&got);
    buf_fini(&seen);
}

/* However much is sent, what the dispatcher may not have logged is there, and
 * not much more. */
TEST(manager_exchange_keeps_as_much_as_may_be_on_its_way)
{
    static char text[20000];
    uint64_t sent = 0, seed = 7, on_its_way = 0;
    struct ends e;
    struct buf got;

    open_ends(&e);
    buf_init(&got, 1 << 26);
    exchange_base(&e.x, 0);
    memset(text, 'x', sizeof text);
    while (sent < 3000) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        exchange_send(&e.x, "ME", text, (size_t)(seed >> 33) % sizeof text);
        sent++;
        do { /* a pipe may hold a page only, where many are open */
            CHECK_EQ(exchange_flush(&e.x, NULL), 0);
            slurp(&e, &got);
        } while (exchange_pending(&e.x) > 0);
        CHECK(e.x.out.len < 4 << 20);
    }
    CHECK_EQ(exchange_pending(&e.x), 0);
    CHECK(e.x.base > 1000);
    on_its_way = e.x.out.len - e.x.front;
    CHECK(on_its_way >= (256 << 10) + e.x.pipe + 2 * sizeof text);
    reopen(&e);
    CHECK_EQ(exchange_resume(&e.x, e.x.base - 1, NULL, NULL, NULL), -1);
    CHECK_EQ(exchange_resume(&e.x, e.x.base, NULL, NULL, NULL), 0);
    for (size_t at = got.len - on_its_way; exchange_pending(&e.x) > 0;) {
        struct buf again;

        buf_init(&again, 1 << 26);
        CHECK_EQ(exchange_flush(&e.x, NULL), 0);
        slurp(&e, &again);
        CHECK_EQ(memcmp(again.data, got.data + at, again.len), 0);
        at += again.len;
        buf_fini(&again);
    }
    exchange_close(&e.x);
    buf_fini(&got);
}
