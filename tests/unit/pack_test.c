/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "core/pack.h"

#include <math.h>
#include <string.h>

static struct unpack
reading(const struct buf *b)
{
    return unpack_from(b->data, b->len);
}

TEST(what_is_packed_comes_back_bit_by_bit)
{
    const double values[] = {0.0, -0.0, 1.5, INFINITY};
    double back[4];
    struct unpack u;
    struct buf b;
    size_t len;

    buf_init(&b, 1 << 16);
    pack_u64(&b, UINT64_MAX);
    pack_f64(&b, -1e-310);
    pack_f64s(&b, values, 4);
    pack_bytes(&b, "a\0b", 3);
    pack_text(&b, "text");
    pack_text(&b, "");
    pack_text(&b, NULL);
    pack_u64(&b, 1);
    CHECK(!b.failed);
    u = reading(&b);
    CHECK(unpack_u64(&u) == UINT64_MAX);
    CHECK(unpack_f64(&u) == -1e-310);
    unpack_f64s(&u, back, 4);
    CHECK(memcmp(values, back, sizeof values) == 0);
    CHECK(memcmp(unpack_bytes(&u, &len), "a\0b", 3) == 0);
    CHECK_EQ(len, 3);
    CHECK_STR(unpack_text(&u), "text");
    CHECK_STR(unpack_text(&u), "");
    CHECK(unpack_text(&u) == NULL);
    CHECK(!unpack_done(&u));
    CHECK(unpack_bool(&u));
    CHECK(unpack_done(&u));
    buf_fini(&b);
}

TEST(a_nan_keeps_its_bits)
{
    uint64_t bits = 0x7ff8000000000123u;
    struct unpack u;
    struct buf b;
    double v;

    memcpy(&v, &bits, sizeof v);
    buf_init(&b, 64);
    pack_f64(&b, v);
    u = reading(&b);
    v = unpack_f64(&u);
    CHECK(memcmp(&v, &bits, sizeof v) == 0);
    buf_fini(&b);
}

TEST(what_is_not_there_fails_once_and_for_all)
{
    struct unpack u = unpack_from("1234567", 7);

    CHECK(unpack_u64(&u) == 0);
    CHECK(u.failed);
    CHECK(unpack_f64(&u) == 0);
    CHECK(unpack_text(&u) == NULL);
    CHECK(!unpack_done(&u));
    u = unpack_from(NULL, 0);
    CHECK(unpack_done(&u));
    CHECK(unpack_count(&u, 1) == 0);
    CHECK(u.failed);
}

TEST(a_count_is_never_more_than_can_be_there)
{
    struct unpack u;
    struct buf b;
    size_t len;

    buf_init(&b, 64);
    pack_u64(&b, 2);
    pack_u64(&b, 7);
    pack_u64(&b, 7);
    u = reading(&b);
    CHECK_EQ(unpack_count(&u, 8), 2);
    u = reading(&b);
    CHECK_EQ(unpack_count(&u, 9), 0);
    CHECK(u.failed);
    buf_clear(&b);
    pack_u64(&b, UINT64_MAX);
    u = reading(&b);
    unpack_bytes(&u, &len);
    CHECK_EQ(len, 0);
    CHECK(u.failed);
    buf_fini(&b);
}

TEST(a_text_ends_where_its_nul_is_and_a_truth_is_0_or_1)
{
    struct unpack u;
    struct buf b;

    buf_init(&b, 64);
    pack_bytes(&b, "a\0b", 4);
    u = reading(&b);
    CHECK(unpack_text(&u) == NULL);
    CHECK(u.failed);
    buf_clear(&b);
    pack_bytes(&b, "ab", 2);
    u = reading(&b);
    CHECK(unpack_text(&u) == NULL);
    CHECK(u.failed);
    buf_clear(&b);
    pack_u64(&b, 2);
    u = reading(&b);
    unpack_bool(&u);
    CHECK(u.failed);
    buf_fini(&b);
}
