/* SPDX-License-Identifier: MIT */
/* Frames: the decoder, fed in portions that the input chooses, gives the same
 * frames and the same error as fed at once; what it gives encodes to the
 * bytes it was made of. */
#include "fuzz.h"

#include "core/err.h"
#include "frame.h"

#include <string.h>

#define PAYLOAD_MAX 4096

/* Decodes `data`, whose portions are `step` bytes (0: all at once). */
static enum frame_status
decode(int digits, const uint8_t *data, size_t size, size_t step,
       struct buf *out, struct err *err)
{
    enum frame_status status = FRAME_PARTIAL;
    struct frame_decoder d;
    struct frame f;
    size_t room;

    frame_decoder_init(&d, digits, PAYLOAD_MAX);
    for (size_t at = 0; at < size && status == FRAME_PARTIAL;) {
        size_t n = step == 0 || step > size - at ? size - at : step;
        char *to = frame_room(&d, &room);

        MUST(to != NULL && room > 0);
        n = n < room ? n : room;
        memcpy(to, data + at, n);
        frame_filled(&d, n);
        at += n;
        while ((status = frame_next(&d, &f, err)) == FRAME_READY) {
            MUST(f.len <= PAYLOAD_MAX && f.offset == out->len);
            frame_encode(out, digits, f.code, f.payload, f.len);
        }
    }
    frame_decoder_fini(&d);
    return status;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, parts;
    struct err a = {0}, b = {0};
    int digits;

    if (size < 1)
        return 0;
    digits = data[0] & 1 ? FRAME_DIGITS_OLD : FRAME_DIGITS;
    buf_init(&whole, 2 * size + 64);
    buf_init(&parts, 2 * size + 64);
    MUST(decode(digits, data + 1, size - 1, 0, &whole, &a) ==
         decode(digits, data + 1, size - 1, 1 + (data[0] >> 1), &parts, &b));
    MUST(strcmp(a.text, b.text) == 0 && a.code == b.code);
    MUST(whole.len == parts.len && !whole.failed && !parts.failed);
    MUST(whole.len == 0 || memcmp(whole.data, parts.data, whole.len) == 0);
    MUST(whole.len == 0 || memcmp(whole.data, data + 1, whole.len) == 0);
    buf_fini(&whole);
    buf_fini(&parts);
    return 0;
}
