/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/philox.h"

struct known_answer {
    struct philox_block counter;
    uint32_t key[2];
    struct philox_block block;
};

/* Random123, tests/kat_vectors, the lines "philox4x32 10". */
static const struct known_answer answers[] = {
    {{{0, 0, 0, 0}},
     {0, 0},
     {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {0xffffffff, 0xffffffff},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {0xa4093822, 0x299f31d0},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

TEST(philox_gives_the_known_answers)
{
    for (int i = 0; i < 3; i++) {
        struct philox_block got = philox(answers[i].counter, answers[i].key);

        for (int w = 0; w < 4; w++)
            CHECK_EQ(got.word[w], answers[i].block.word[w]);
    }
}

/* Half of the output bits, give or take, hang on each input bit. */
TEST(philox_spreads_every_input_bit)
{
    for (int bit = 0; bit < 192; bit++) {
        int changed = 0;

        for (uint32_t i = 0; i < 64; i++) {
            struct philox_block c = {{i, 1, 2, 3}};
            uint32_t key[2] = {4, 5};
            struct philox_block before = philox(c, key);
            uint32_t *word =
                bit < 128 ? &c.word[bit / 32] : &key[(bit - 128) / 32];
            struct philox_block after;

            *word ^= UINT32_C(1) << bit % 32;
            after = philox(c, key);
            for (int w = 0; w < 4; w++)
                changed += __builtin_popcount(before.word[w] ^ after.word[w]);
        }
        CHECK(64 * 64 - 320 < changed && changed < 64 * 64 + 320);
    }
}
