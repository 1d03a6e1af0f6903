/* SPDX-License-Identifier: MIT */
/* save_help.h - what holds for whatever is packed and comes back. */
#ifndef TESTS_SAVE_HELP_H
#define TESTS_SAVE_HELP_H

#include "core/pack.h"
#include "dispatcher_help.h"

/* A kind of thing: made empty, packed, read, freed. */
struct saved {
    void *(*make)(void);
    void (*save)(const void *x, struct buf *out);
    int (*load)(void *x, struct unpack *in);
    void (*drop)(void *x);
};

static inline struct buf
saved_bytes(const struct saved *kind, const void *x)
{
    struct buf b;

    buf_init(&b, (size_t)1 << 28);
    kind->save(x, &b);
    CHECK(!b.failed);
    return b;
}

/* A second one that was read from the first one's bytes. */
static inline void *
saved_twin(const struct saved *kind, const void *x)
{
    struct buf bytes = saved_bytes(kind, x), again;
    struct unpack in = unpack_from(bytes.data, bytes.len);
    void *twin = kind->make();

    CHECK_EQ(kind->load(twin, &in), 0);
    CHECK(unpack_done(&in));
    again = saved_bytes(kind, twin);
    CHECK_EQ(again.len, bytes.len);
    CHECK(memcmp(again.data, bytes.data, bytes.len) == 0);
    buf_fini(&bytes);
    buf_fini(&again);
    return twin;
}

/* Reads them into a new one, which is to survive it; whether it was taken. */
static inline bool
saved_reads(const struct saved *kind, const char *bytes, size_t len)
{
    char *copy = malloc(len + 1); /* of its own, so that asan sees the end */
    struct unpack in;
    void *x = kind->make();
    bool taken;

    if (len > 0)
        memcpy(copy, bytes, len);
    in = unpack_from(copy, len);
    taken = kind->load(x, &in) == 0;
    CHECK(taken == !in.failed);
    if (taken) {
        struct buf again = saved_bytes(kind, x);

        buf_fini(&again);
    }
    kind->drop(x);
    free(copy);
    return taken;
}

/* No part of them is enough, and no bits in them can do harm. */
static inline void
saved_survives_damage(const struct saved *kind, const void *x, int n_flips)
{
    struct buf bytes = saved_bytes(kind, x);
    uint64_t seed = 17;

    for (size_t len = 0; len < bytes.len; len++)
        CHECK(!saved_reads(kind, bytes.data, len));
    for (int i = 0; i < n_flips; i++) {
        size_t at[2] = {help_below(&seed, bytes.len * 8),
                        help_below(&seed, bytes.len * 8)};

        for (int k = 0; k < 2; k++)
            bytes.data[at[k] / 8] ^= (char)(1 << at[k] % 8);
        saved_reads(kind, bytes.data, bytes.len);
        for (int k = 0; k < 2; k++)
            bytes.data[at[k] / 8] ^= (char)(1 << at[k] % 8);
    }
    buf_fini(&bytes);
}

#endif
