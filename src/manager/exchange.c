/* SPDX-License-Identifier: MIT */
/* DESIGN.  `out` is a window onto the stream of all frames ever sent:
 *
 *   |  kept no more  |  written, kept  |  not written  |
 *   0              front             out_at         out.len
 *                    ^ frame base + 1            frame last ^
 *
 * A frame leaves the window when as many bytes are written behind it as can
 * be on their way: the pipe's capacity, one read(2) of the dispatcher (which
 * becomes one append to its log), and the unfinished frame before that. */
#include "manager/exchange.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "json_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define OUT_MAX ((size_t)1 << 30)
/* What a dispatcher reads at once, by frame_room(): so much, or as much again
 * as it has of an unfinished frame. */
#define ONE_READ ((size_t)256 << 10)
#define PIPE_DEFAULT ((size_t)64 << 10)

void
exchange_init(struct exchange *x)
{
    *x = (struct exchange){.to = -1, .from = -1};
    buf_init(&x->out, OUT_MAX);
}

void
exchange_open(struct exchange *x, int to, int from)
{
    int size = fcntl(to, F_GETPIPE_SZ);

    x->to = to;
    x->from = from;
    x->pipe = size > 0 ? (size_t)size : PIPE_DEFAULT;
    frame_decoder_init(&x->in, FRAME_DIGITS, FRAME_PAYLOAD_MAX_DEFAULT);
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
exchange_hold(struct exchange *x)
{
    close_one(&x->to);
    close_one(&x->from);
    frame_decoder_fini(&x->in);
    x->out_at = x->front;
    x->held = true;
    x->over = false;
}

static size_t
size_at(const struct exchange *x, size_t at)
{
    return frame_size(x->out.data + at, FRAME_DIGITS);
}

static void
pass_frame(const struct exchange *x, size_t at, exchange_frame *take, void *ctx)
{
    const char *bytes = x->out.data + at;
    size_t size = size_at(x, at);
    const struct frame frame = {
        .code = {bytes[0], bytes[1]},
        .payload = bytes + FRAME_HEADER_MAX,
        .len = size - FRAME_HEADER_MAX,
    };

    take(ctx, &frame);
}

void
exchange_base(struct exchange *x, uint64_t last)
{
    x->last = last + (x->last - x->base);
    x->base = last;
    x->based = true;
}

int
exchange_resume(struct exchange *x, uint64_t last, exchange_frame *take,
                void *ctx, struct err *err)
{
    size_t at = x->front;

    if (!x->based)
        exchange_base(x, last);
    if (last < x->base || last > x->last)
        return err_set(err, ERR_PROTOCOL,
                       "its log ends with command %llu, expected %llu to %llu",
                       (unsigned long long)last, (unsigned long long)x->base,
                       (unsigned long long)x->last);
    for (uint64_t n = x->base; n < last; n++)
        at += size_at(x, at);
    x->out_at = at;
    x->held = x->over = false;
    for (; take != NULL && at < x->out.len; at += size_at(x, at))
        pass_frame(x, at, take, ctx);
    return 0;
}

void
exchange_send(struct exchange *x, const char code[2], const char *payload,
              size_t len)
{
    size_t before = x->out.len;

    if (x->over)
        return;
    frame_encode(&x->out, FRAME_DIGITS, code, payload, len);
    if (x->out.failed)
        return;
    x->last++;
    x->sent++;
    if (x->out.len - before > x->largest)
        x->largest = x->out.len - before;
}

void
exchange_plan(struct exchange *x, uint64_t trials)
{
    struct json_writer w;
    struct buf text;

    if (trials == x->planned)
        return;
    buf_init(&text, 64);
    w = json_begin_object(&text);
    if (trials > 0)
        json_add_unsigned(&w, "trials", trials);
    json_close(&w);
    exchange_send(x, command_info(CMD_PLAN)->code, text.data, text.len);
    buf_fini(&text);
    x->planned = trials;
}

size_t
exchange_pending(const struct exchange *x)
{
    return x->over ? 0 : x->out.len - x->out_at;
}

uint64_t
exchange_logged(const struct exchange *x)
{
    return x->sent - (x->last - x->base);
}

void
exchange_close_to(struct exchange *x)
{
    close_one(&x->to);
    x->over = true;
}

static int
give_up(struct exchange *x)
{
    close_one(&x->to);
    return -1;
}

/* Forgets the frames that have surely arrived. */
static void
trim(struct exchange *x)
{
    size_t kept = x->pipe + ONE_READ + 3 * x->largest;

    while (x->out_at - x->front >= kept) { /* more than any one frame */
        x->front += size_at(x, x->front);
        x->base++;
    }
    if (x->front >= x->out.len / 2 && x->front > 0) {
        buf_consume(&x->out, x->front);
        x->out_at -= x->front;
        x->front = 0;
    }
}

int
exchange_flush(struct exchange *x, struct err *err)
{
    if (x->to < 0 || x->held)
        return 0;
    if (buf_check(&x->out, "what waits for the dispatcher", err) != 0)
        return give_up(x);
    while (x->out_at < x->out.len) {
        ssize_t n =
            write(x->to, x->out.data + x->out_at, x->out.len - x->out_at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            err_errno(err, ERR_SYSTEM, "cannot write to the dispatcher");
            return give_up(x);
        }
        x->out_at += (size_t)n;
    }
    trim(x);
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
