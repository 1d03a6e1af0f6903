/* SPDX-License-Identifier: MIT */
#include "manager/exchange.h"

#include "core/err.h"

#include <errno.h>
#include <unistd.h>

#define OUT_MAX ((size_t)1 << 30)

void
exchange_open(struct exchange *c, int to, int from)
{
    *c = (struct exchange){.to = to, .from = from};
    frame_decoder_init(&c->in, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
    buf_init(&c->out, OUT_MAX);
}

static void
close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void
exchange_close(struct exchange *c)
{
    close_one(&c->to);
    close_one(&c->from);
    frame_decoder_fini(&c->in);
    buf_fini(&c->out);
}

void
exchange_send(struct exchange *c, const char code[2], const char *payload,
              size_t len)
{
    if (c->to < 0)
        return;
    if (c->out_at > 0 && c->out_at >= c->out.len / 2) {
        buf_consume(&c->out, c->out_at);
        c->out_at = 0;
    }
    frame_encode(&c->out, FRAME_DIGITS, code, payload, len);
}

size_t
exchange_pending(const struct exchange *c)
{
    return c->to < 0 ? 0 : c->out.len - c->out_at;
}

static int
give_up(struct exchange *c)
{
    close_one(&c->to);
    buf_clear(&c->out);
    c->out_at = 0;
    return -1;
}

int
exchange_flush(struct exchange *c, struct err *err)
{
    if (c->to < 0)
        return 0;
    if (buf_check(&c->out, "what waits for the dispatcher", err) != 0)
        return give_up(c);
    while (c->out_at < c->out.len) {
        ssize_t n =
            write(c->to, c->out.data + c->out_at, c->out.len - c->out_at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0) {
            err_errno(err, ERR_SYSTEM, "cannot write to the dispatcher");
            return give_up(c);
        }
        c->out_at += (size_t)n;
    }
    buf_clear(&c->out);
    c->out_at = 0;
    return 0;
}

static int
take_frames(struct exchange *c, exchange_frame *take, void *ctx,
            struct err *err)
{
    struct frame frame;

    for (;;)
        switch (frame_next(&c->in, &frame, err)) {
        case FRAME_READY:
            take(ctx, &frame);
            break;
        case FRAME_PARTIAL:
            return 0;
        case FRAME_BROKEN:
            return -1;
        }
}

int
exchange_read(struct exchange *c, exchange_frame *take, void *ctx,
              struct err *err)
{
    while (c->from >= 0) {
        size_t room;
        char *to = frame_room(&c->in, &room);
        ssize_t n;

        if (to == NULL)
            return err_set(err, ERR_MEMORY, "out of memory");
        n = read(c->from, to, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 1;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM,
                             "cannot read from the dispatcher");
        if (n == 0)
            return 0;
        frame_filled(&c->in, (size_t)n);
        if (take_frames(c, take, ctx, err) != 0)
            return -1;
    }
    return 0;
}
