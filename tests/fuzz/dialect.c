/* SPDX-License-Identifier: MIT */
/* Messages of both WebSocket generations: a manager's session of lines.  What
 * is a command becomes one frame that the decoder reads, and written as a
 * message of its dialect it becomes the same frame again; what is none leaves
 * nothing behind but one line. */
#include "fuzz.h"

#include "bridge/dialect.h"
#include "core/buf.h"
#include "core/err.h"
#include "frame.h"

#include <string.h>

#define PAYLOAD_MAX 65536

static void
read_back(enum dialect d, const struct frame *f, const struct buf *frames)
{
    struct buf text, again;
    struct err err;

    buf_init(&text, 8 * PAYLOAD_MAX);
    buf_init(&again, 8 * PAYLOAD_MAX);
    dialect_write(d, &text, f->code, f->payload, f->len);
    MUST(!text.failed);
    (void)dialect_read(&d, text.data, text.len, &again, &err);
    MUST(!again.failed && again.len == frames->len);
    MUST(memcmp(again.data, frames->data, again.len) == 0);
    buf_fini(&text);
    buf_fini(&again);
}

static void
check_frame(enum dialect d, enum message m, const struct buf *frames)
{
    struct frame_decoder decoder;
    struct frame f;
    struct err err;
    size_t room;
    char *to;

    frame_decoder_init(&decoder, FRAME_DIGITS, PAYLOAD_MAX);
    to = frame_room(&decoder, &room);
    MUST(to != NULL && room >= frames->len);
    memcpy(to, frames->data, frames->len);
    frame_filled(&decoder, frames->len);
    MUST(frame_next(&decoder, &f, &err) == FRAME_READY);
    MUST(frame_pending(&decoder) == 0);
    MUST((strcmp(f.code, "TE") == 0) == (m == MESSAGE_TERMINATE));
    read_back(d, &f, frames);
    frame_decoder_fini(&decoder);
}

static void
one(enum dialect *d, const char *text, size_t len)
{
    struct err err = {0};
    enum dialect before = *d;
    struct buf frames;
    enum message m;

    buf_init(&frames, PAYLOAD_MAX + FRAME_HEADER_MAX);
    m = dialect_read(d, text, len, &frames, &err);
    MUST(before == DIALECT_UNKNOWN || *d == before);
    if (m == MESSAGE_FRAME || m == MESSAGE_TERMINATE) {
        MUST(*d != DIALECT_UNKNOWN && !frames.failed);
        check_frame(*d, m, &frames);
    } else {
        MUST(frames.len == 0 && !frames.failed);
        MUST((m == MESSAGE_STRANGE) == (err.code == ERR_INPUT));
        MUST((m == MESSAGE_STRANGE) == (err.text[0] != '\0'));
        MUST(strpbrk(err.text, "\n\r") == NULL);
    }
    buf_fini(&frames);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum dialect d = DIALECT_UNKNOWN;
    const char *at = (const char *)data, *end = at + size;

    if (size > PAYLOAD_MAX / 16)
        return 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop == NULL ? end : stop;
        one(&d, at, (size_t)(stop - at));
        at = stop + 1;
    }
    return 0;
}
