/* SPDX-License-Identifier: MIT */
#include "random.h"

#include "elementary.h"
#include "philox.h"

struct product {
    uint64_t high, low;
};

/* "tune", "pipe": the key under which keys are made. */
static const uint32_t key_of_keys[2] = {0x74756e65u, 0x70697065u};

struct random_stream
random_stream(uint64_t seed, uint32_t purpose, uint64_t a, uint32_t b)
{
    struct philox_block name = {
        {(uint32_t)seed, (uint32_t)(seed >> 32), purpose, 0}};
    struct philox_block key = philox(name, key_of_keys);

    return (struct random_stream){{key.word[0], key.word[1]},
                                  {(uint32_t)a, (uint32_t)(a >> 32), b}};
}

struct random_stream
random_sibling(const struct random_stream *s, uint64_t a, uint32_t b)
{
    return (struct random_stream){{s->key[0], s->key[1]},
                                  {(uint32_t)a, (uint32_t)(a >> 32), b}};
}

uint64_t
random_bits(const struct random_stream *s, uint32_t draw)
{
    struct philox_block counter = {
        {s->counter[0], s->counter[1], s->counter[2], draw}};
    struct philox_block block = philox(counter, s->key);

    return (uint64_t)block.word[1] << 32 | block.word[0];
}

double
random_uniform(const struct random_stream *s, uint32_t draw)
{
    return (double)(random_bits(s, draw) >> 11) * 0x1p-53;
}

double
random_open(const struct random_stream *s, uint32_t draw)
{
    return ((double)(random_bits(s, draw) >> 12) + 0.5) * 0x1p-52;
}

/* Schoolbook, because C11 has no 128-bit integer. */
static struct product
multiply(uint64_t x, uint64_t y)
{
    uint64_t xl = (uint32_t)x, xh = x >> 32;
    uint64_t yl = (uint32_t)y, yh = y >> 32;
    uint64_t low = xl * yl;
    uint64_t mid = xh * yl + (low >> 32);
    uint64_t mid2 = xl * yh + (uint32_t)mid;

    return (struct product){xh * yh + (mid >> 32) + (mid2 >> 32),
                            mid2 << 32 | (uint32_t)low};
}

uint64_t
random_below(const struct random_stream *s, uint32_t *draw, uint64_t n)
{
    struct product p = multiply(random_bits(s, (*draw)++), n);

    if (p.low < n) {
        uint64_t unfair = (0 - n) % n; /* 2^64 mod n */

        while (p.low < unfair)
            p = multiply(random_bits(s, (*draw)++), n);
    }
    return p.high;
}

double
random_normal(const struct random_stream *s, uint32_t draw)
{
    return num_normal_quantile(random_open(s, draw));
}
