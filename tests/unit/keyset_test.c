/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "keyset/keyset.h"

NOT_UNDER_TSAN;

TEST(keyset_knows_what_came_and_in_which_order)
{
    struct keyset s = {0};
    uint64_t key[2] = {0};
    size_t place = 0;

    CHECK(!keyset_has(&s, key));
    for (uint64_t i = 0; i < 5000; i++) {
        key[0] = i % 7; /* all in one place */
        key[1] = i;
        CHECK(!keyset_has(&s, key));
        CHECK_EQ(keyset_add(&s, key, &place), 1);
        CHECK_EQ(place, i);
        CHECK(keyset_has(&s, key));
    }
    CHECK_EQ(s.n, 5000);
    for (uint64_t i = 0; i < 5000; i++) {
        key[0] = i % 7;
        key[1] = i;
        CHECK_EQ(keyset_add(&s, key, &place), 0);
        CHECK_EQ(place, i);
        CHECK_EQ(s.keys[i][1], i);
    }
    keyset_fini(&s);
    CHECK_EQ(s.n, 0);
}

TEST(keyset_tells_keys_apart_by_either_half)
{
    struct keyset s = {0};

    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < 5000; i++) {
            uint64_t low[2] = {i << 40, i}, high[2] = {i << 40, ~i};

            CHECK_EQ(keyset_add(&s, low, NULL), pass == 0);
            CHECK_EQ(keyset_add(&s, high, NULL), pass == 0);
        }
    CHECK_EQ(s.n, 10000);
    keyset_fini(&s);
}
