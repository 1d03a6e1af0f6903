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
    exchange_send(&e.x, "GE", "1", 1);
    CHECK_EQ(exchange_pending(&e.x), 0);
    CHECK_EQ(exchange_flush(&e.x, &err), 0);
    CHECK_EQ(write(e.to, "hello", 5), 5);
    CHECK_EQ(exchange_read(&e.x, take, &seen, &err), -1);
    exchange_close(&e.x);
    buf_fini(&seen);
}
