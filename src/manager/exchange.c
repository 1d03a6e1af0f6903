/* SPDX-License-Identifier: MIT */
#include "manager/exchange.h"

#include "core/err.h"

#include <errno.h>
#include <unistd.h>

#define OUT_MAX ((size_t)1 << 30)

void
exchange_open(struct exchange *x, int to, int from)
{
    *x = (struct exchange){.to = to, .from = from};
    frame_decoder_init(&x->in, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
    buf_init(&x->out, OUT_MAX);
}

static void
close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void
exchange_close(struct exchange *x)
{
    close_one(&x->to);
    close_one(&x->from);
    frame_decoder_fini(&x->in);
    buf_fini(&x->out);
}

void
exchange_send(struct exchange *x, const char code[2], const char *payload,
              size_t len)
{
    if (x->to < 0)
        return;
    if (x->out_at > 0 && x->out_at >= x->out.len / 2) {
        buf_consume(&x->out, x->out_at);
        x->out_at = 0;
    }
    frame_encode(&x->out, FRAME_DIGITS, code, payload, len);
}

size_t
exchange_pending(const struct exchange *x)
{
    return x->to < 0 ? 0 : x->out.len - x->out_at;
}

void
exchange_close_to(struct exchange *x)
{
    close_one(&x->to);
    buf_clear(&x->out);
    x->out_at = 0;
}

static int
give_up(struct exchange *x)
{
    exchange_close_to(x);
    return -1;
}

int
exchange_flush(struct exchange *x, struct err *err)
{
    if (x->to < 0)
        return 0;
    if (buf_check(&x->out, "what waits for the dispatcher", err) != 0)
        return give_up(x);
    while (x->out_at < x->out.len) {
        ssize_t n =
            write(x->to, x->out.data + x->out_at, x->out.len - x->out_at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0) {
            err_errno(err, ERR_SYSTEM, "cannot write to the dispatcher");
            return give_up(x);
        }
        x->out_at += (size_t)n;
    }
    buf_clear(&x->out);
    x->out_at = 0;
    return 0;
}

static int
take_frames(struct exchange *x, exchange_frame *take, void *ctx,
            struct err *err)
{
    struct frame frame;

    for (;;)
        switch (frame_next(&x->in, &frame, err)) {
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
exchange_read(struct exchange *x, exchange_frame *take, void *ctx,
              struct err *err)
{
    while (x->from >= 0) {
        size_t room;
        char *to = frame_room(&x->in, &room);
        ssize_t n;

        if (to == NULL)
            return err_set(err, ERR_MEMORY, "out of memory");
        n = read(x->from, to, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 1;
        if (n < 0)
            return err_errno(err, ERR_SYSTEM,
                             "cannot read from the dispatcher");
        if (n == 0)
            return 0;
        frame_filled(&x->in, (size_t)n);
        if (take_frames(x, take, ctx, err) != 0)
            return -1;
    }
    return 0;
}
