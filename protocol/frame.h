/* SPDX-License-Identifier: MIT */
/* frame.h - bytes <-> frames: two capital letters, a length in 14 (or 6)
 * decimal digits, that many bytes of payload.  PROTOCOL.md, "Frames".
 *
 * Knows no command and does no I/O: it is fed bytes in any portions.  The
 * length is checked against the cap before anything is allocated for it.  One
 * thread. */
#ifndef PROTOCOL_FRAME_H
#define PROTOCOL_FRAME_H

#include "core/buf.h"

#include <stddef.h>
#include <stdint.h>

struct err;

#define FRAME_DIGITS 14       /* NNI 1.6 to 2.7, and tunepipe itself */
#define FRAME_DIGITS_OLD 6    /* NNI 1.0 to 1.5 */
#define FRAME_DIGITS_DETECT 0 /* a decoder's: as the first header has */
#define FRAME_HEADER_MAX (2 + FRAME_DIGITS)
#define FRAME_PAYLOAD_MAX_DEFAULT ((size_t)64 << 20)

struct frame {
    char code[3];        /* two letters and a NUL */
    const char *payload; /* lies in the decoder's buffer; not NUL-terminated;
                            valid until the next frame_room() */
    size_t len;
    uint64_t offset; /* of the frame's first byte in the stream */
};

struct frame_decoder {
    int digits;         /* FRAME_DIGITS, FRAME_DIGITS_OLD, or
                           FRAME_DIGITS_DETECT until it is known */
    size_t max_payload; /* bytes */
    struct buf in;
    size_t at;       /* offset in `in` of the next frame */
    uint64_t offset; /* offset of `at` in the stream */
};

enum frame_status {
    FRAME_READY,   /* *out is filled */
    FRAME_PARTIAL, /* more bytes are needed */
    FRAME_BROKEN,  /* err says what and at which offset; no way on */
};

void frame_decoder_init(struct frame_decoder *d, int digits,
                        size_t max_payload);
void frame_decoder_fini(struct frame_decoder *d);

/* Where to read(2) the next bytes to; *room says how many fit: at least
 * 256 KiB, and as many again as are pending, so that the buffer grows with what
 * has arrived and not with what a header claims.  NULL: out of memory, or
 * called over and over without frame_next(). */
char *frame_room(struct frame_decoder *d, size_t *room);

/* Tells that `len` bytes were written there. */
void frame_filled(struct frame_decoder *d, size_t len);

/* For FRAME_DIGITS_DETECT: finds out from the first header's bytes, as they
 * come.  READY: d->digits is known, and nothing was taken; PARTIAL: not yet;
 * BROKEN: this is no header of either width, err tells.  Two letters and six
 * digits are the old header when the byte behind is no digit (NNI's managers
 * begin with IN, whose payload is an object), or when the six alone, as the
 * first of fourteen, are over the cap. */
enum frame_status frame_detect(struct frame_decoder *d, struct err *err);

/* Takes the next whole frame; detects the length field first where it has to.
 * A header is refused at its first wrong byte. */
enum frame_status frame_next(struct frame_decoder *d, struct frame *out,
                             struct err *err);

/* How many bytes of an unfinished frame have been fed. */
size_t frame_pending(const struct frame_decoder *d);

/* For a stream that ends inside a frame, frame_pending() > 0: fills err with
 * where it begins and how much of it is there.  Returns -1. */
int frame_refuse_end(const struct frame_decoder *d, struct err *err);

/* Length of the encoded frame that begins here. */
size_t frame_size(const char *frame, int digits);

/* Appends a frame.  A payload too long for the digits marks `out` failed. */
void frame_encode(struct buf *out, int digits, const char code[2],
                  const void *payload, size_t len);

#endif
