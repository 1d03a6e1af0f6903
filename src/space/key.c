/* SPDX-License-Identifier: MIT */
#include "space/dims.h"

/* 128-bit FNV-1a (Fowler, Noll, Vo). */
static void
hash(const char *data, size_t len, uint64_t out[2])
{
    const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
    unsigned __int128 h =
        ((unsigned __int128)0x6c62272e07bb0142u << 64) + 0x62b821756295c58du;

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)data[i]) * prime;
    out[0] = (uint64_t)(h >> 64);
    out[1] = (uint64_t)h;
}

void
space_key(const struct space *s, const double *x, uint64_t out[2])
{
    struct buf text;

    buf_init(&text, SPACE_TEXT_MAX);
    space_decode(s, x, &text);
    hash(text.data, text.len, out);
    buf_fini(&text);
}
