/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "core/err.h"
#include "core/number.h"
#include "quote.h"

#include <stdio.h>
#include <string.h>

/* DESIGN.  One buffer: bytes before `at` are consumed, those behind it
 * pending.  Consumed bytes are only moved over when they are at least as many
 * as the pending ones, so each byte is moved at most once on average; and the
 * buffer grows with what has arrived, never with what a header claims. */

#define CHUNK ((size_t)256 << 10)
#define KEEP_MAX (4 * CHUNK) /* a larger empty buffer is given back */

static size_t
header_size(const struct frame_decoder *d)
{
    return 2 + (size_t)d->digits;
}

static size_t
buffer_max(size_t max_payload)
{
    return max_payload > SIZE_MAX / 4
               ? SIZE_MAX / 2
               : 2 * (max_payload + FRAME_HEADER_MAX + CHUNK);
}

void
frame_decoder_init(struct frame_decoder *d, int digits, size_t max_payload)
{
    *d = (struct frame_decoder){.digits = digits, .max_payload = max_payload};
    buf_init(&d->in, buffer_max(max_payload));
}

void
frame_decoder_fini(struct frame_decoder *d)
{
    buf_fini(&d->in);
    d->at = 0;
}

size_t
frame_pending(const struct frame_decoder *d)
{
    return d->in.len - d->at;
}

/* Drops the consumed bytes where that is cheap. */
static void
compact(struct frame_decoder *d)
{
    if (d->at < frame_pending(d))
        return;
    buf_consume(&d->in, d->at);
    d->at = 0;
    if (d->in.len == 0 && d->in.cap > KEEP_MAX)
        buf_fini(&d->in);
}

char *
frame_room(struct frame_decoder *d, size_t *room)
{
    size_t pending = frame_pending(d);
    char *to;

    compact(d);
    *room = pending > CHUNK ? pending : CHUNK;
    to = buf_reserve(&d->in, *room);
    if (to == NULL) { /* near the buffer's maximum */
        d->in.failed = false;
        *room = CHUNK;
        to = buf_reserve(&d->in, *room);
    }
    return to;
}

void
frame_filled(struct frame_decoder *d, size_t len)
{
    d->in.len += len;
}

static enum frame_status
refuse(const struct frame_decoder *d, size_t i, struct err *err)
{
    const char *header = d->in.data + d->at;
    char byte[QUOTE_MAX], begin[QUOTE_MAX];
    unsigned long long at = d->offset + i;

    quote_bytes(byte, header + i, 1);
    if (i < 2)
        err_set(err, ERR_PROTOCOL,
                "byte %llu of the stream: expected a command code (two capital "
                "letters), not %s",
                at, byte);
    else
        err_set(err, ERR_PROTOCOL,
                "byte %llu of the stream: expected %d digits of length, not %s "
                "(the frame begins %s)",
                at, d->digits, byte, quote_bytes(begin, header, i + 1));
    return FRAME_BROKEN;
}

/* Checks the bytes of the header that have come; READY: *len is the payload's
 * length. */
static inline enum frame_status
check_header(const struct frame_decoder *d, size_t *len, struct err *err)
{
    const char *header = d->in.data + d->at;
    size_t size = header_size(d), have = frame_pending(d);
    uint64_t length = 0;

    for (size_t i = 0; i < size && i < have; i++) {
        char c = header[i];

        if (i < 2 ? c < 'A' || c > 'Z' : c < '0' || c > '9')
            return refuse(d, i, err);
        if (i >= 2)
            length = length * 10 + (uint64_t)(c - '0');
    }
    if (have < size)
        return FRAME_PARTIAL;
    if (length > d->max_payload) {
        err_set(err, ERR_PROTOCOL,
                "byte %llu of the stream: %.2s with a payload of %llu bytes, "
                "over the limit of %zu (see --max-payload)",
                (unsigned long long)d->offset, header,
                (unsigned long long)length, d->max_payload);
        return FRAME_BROKEN;
    }
    *len = (size_t)length;
    return FRAME_READY;
}

enum frame_status
frame_detect(struct frame_decoder *d, struct err *err)
{
    const size_t old = 2 + FRAME_DIGITS_OLD;
    const uint64_t behind = 100000000; /* what eight more digits may say */
    size_t have = frame_pending(d), len;
    uint64_t first = 0;
    enum frame_status status;
    char next;

    if (d->digits != FRAME_DIGITS_DETECT)
        return FRAME_READY;
    if (have == 0)
        return FRAME_PARTIAL;
    /* the old length field: the beginning of the new one */
    d->digits = FRAME_DIGITS_OLD;
    status = check_header(d, &len, err);
    if (status == FRAME_READY && have > old) {
        next = d->in.data[d->at + old];
        (void)number_parse_u64(d->in.data + d->at + 2, FRAME_DIGITS_OLD,
                               &first);
        if (next >= '0' && next <= '9' && first <= d->max_payload / behind)
            d->digits = FRAME_DIGITS;
        return FRAME_READY;
    }
    d->digits = FRAME_DIGITS_DETECT;
    return status == FRAME_READY ? FRAME_PARTIAL : status;
}

enum frame_status
frame_next(struct frame_decoder *d, struct frame *out, struct err *err)
{
    enum frame_status status =
        d->digits == FRAME_DIGITS_DETECT ? frame_detect(d, err) : FRAME_READY;
    size_t size = header_size(d), len = 0;
    const char *header;

    if (status != FRAME_READY)
        return status;
    if (frame_pending(d) == 0)
        return FRAME_PARTIAL;
    status = check_header(d, &len, err);
    if (status != FRAME_READY)
        return status;
    if (frame_pending(d) - size < len)
        return FRAME_PARTIAL;
    header = d->in.data + d->at;
    *out = (struct frame){.code = {header[0], header[1], '\0'},
                          .payload = header + size,
                          .len = len,
                          .offset = d->offset};
    d->at += size + len;
    d->offset += size + len;
    return FRAME_READY;
}

int
frame_refuse_end(const struct frame_decoder *d, struct err *err)
{
    const char *header = d->in.data + d->at;
    size_t have = frame_pending(d), size = header_size(d);
    char whole[80];

    if (have < size)
        snprintf(whole, sizeof whole, "a header of %zu", size);
    else
        snprintf(whole, sizeof whole, "%.2s with %zu", header,
                 frame_size(header, d->digits));
    return err_set(err, ERR_PROTOCOL,
                   "byte %llu of the stream: the input ends %zu byte%s into a "
                   "frame, expected %s",
                   (unsigned long long)d->offset, have, have == 1 ? "" : "s",
                   whole);
}

void
frame_encode(struct buf *out, int digits, const char code[2],
             const void *payload, size_t len)
{
    char header[FRAME_HEADER_MAX];
    size_t left = len;

    memcpy(header, code, 2);
    for (int i = digits + 1; i >= 2; i--) {
        header[i] = (char)('0' + left % 10);
        left /= 10;
    }
    if (left > 0) {
        out->failed = true;
        return;
    }
    /* room for both, or for neither */
    buf_reserve(out, 2 + (size_t)digits + len);
    buf_add(out, header, 2 + (size_t)digits);
    buf_add(out, payload, len);
}

size_t
frame_size(const char *frame, int digits)
{
    uint64_t payload = 0;

    (void)number_parse_u64(frame + 2, (size_t)digits, &payload);
    return 2 + (size_t)digits + (size_t)payload;
}
