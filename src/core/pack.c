/* SPDX-License-Identifier: MIT */
#include "core/pack.h"

#include <string.h>

#define WORD 8

void
pack_u64(struct buf *out, uint64_t v)
{
    char *at = buf_reserve(out, WORD);

    if (at == NULL)
        return;
    for (int i = 0; i < WORD; i++)
        at[i] = (char)(v >> (8 * i) & 0xff);
    out->len += WORD;
}

void
pack_f64(struct buf *out, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    pack_u64(out, bits);
}

void
pack_f64s(struct buf *out, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pack_f64(out, v[i]);
}

void
pack_bytes(struct buf *out, const void *bytes, size_t len)
{
    pack_u64(out, len);
    buf_add(out, bytes, len);
}

void
pack_text(struct buf *out, const char *text)
{
    pack_bytes(out, text, text == NULL ? 0 : strlen(text) + 1);
}

/* ---- reading ---- */

struct unpack
unpack_from(const void *bytes, size_t len)
{
    const char *at = bytes;

    return (struct unpack){at, len == 0 ? at : at + len, false};
}

void
unpack_fail(struct unpack *u)
{
    u->failed = true;
    u->at = u->end;
}

static size_t
left(const struct unpack *u)
{
    return u->at == u->end ? 0 : (size_t)(u->end - u->at);
}

uint64_t
unpack_u64(struct unpack *u)
{
    uint64_t v = 0;

    if (left(u) < WORD) {
        unpack_fail(u);
        return 0;
    }
    for (int i = 0; i < WORD; i++)
        v |= (uint64_t)(unsigned char)u->at[i] << (8 * i);
    u->at += WORD;
    return v;
}

double
unpack_f64(struct unpack *u)
{
    uint64_t bits = unpack_u64(u);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

void
unpack_f64s(struct unpack *u, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = unpack_f64(u);
}

bool
unpack_bool(struct unpack *u)
{
    uint64_t v = unpack_u64(u);

    if (v > 1)
        unpack_fail(u);
    return v == 1;
}

const char *
unpack_bytes(struct unpack *u, size_t *len)
{
    size_t n = unpack_count(u, 1);
    const char *bytes = u->at;

    *len = n;
    if (!u->failed && n > 0)
        u->at += n;
    return bytes;
}

const char *
unpack_text(struct unpack *u)
{
    size_t len;
    const char *text = unpack_bytes(u, &len);

    if (len == 0)
        return NULL;
    if (memchr(text, '\0', len) != text + len - 1) {
        unpack_fail(u);
        return NULL;
    }
    return text;
}

size_t
unpack_count(struct unpack *u, size_t least)
{
    uint64_t n = unpack_u64(u);

    if (n <= left(u) / least)
        return (size_t)n;
    unpack_fail(u);
    return 0;
}

bool
unpack_done(const struct unpack *u)
{
    return !u->failed && u->at == u->end;
}
