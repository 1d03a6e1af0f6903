/* SPDX-License-Identifier: MIT */
#include "t.h"

#include "numerics/philox.h"
#include "numerics/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

NOT_UNDER_TSAN;

static uint64_t
bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

TEST(random_siblings_are_streams)
{
    struct random_stream any = random_stream(7, RANDOM_TEST, 1, 2);
    struct random_stream s =
        random_stream(7, RANDOM_TEST, UINT64_C(3) << 40, 4);
    struct random_stream same = random_sibling(&any, UINT64_C(3) << 40, 4);

    CHECK_EQ(random_bits(&same, 5), random_bits(&s, 5));
}

TEST(random_is_what_its_header_promises)
{
    struct philox_block name = {{0x89abcdef, 0x01234567, RANDOM_TUNER, 0}};
    uint32_t key_of_keys[2] = {0x74756e65, 0x70697065};
    struct philox_block key = philox(name, key_of_keys);
    struct philox_block counter = {{0x76543210, 0xfedcba98, 42, 7}};
    struct philox_block block = philox(counter, key.word);
    uint64_t bits = (uint64_t)block.word[1] << 32 | block.word[0];
    struct random_stream s =
        random_stream(0x0123456789abcdef, RANDOM_TUNER, 0xfedcba9876543210, 42);

    CHECK(random_bits(&s, 7) == bits);
    CHECK(random_uniform(&s, 7) == (double)(bits >> 11) / 0x1p53);
    CHECK(random_open(&s, 7) == ((double)(bits >> 12) + 0.5) / 0x1p52);
}

/* Stored logs replay with these bits. */
TEST(random_bits_never_change)
{
    static const uint64_t golden[3][4] = {
        {0x6fb6a1e6f014f463, 0x3fdbeda879bc053c, 0x3fdbeda879bc053e,
         0xbfc47fdff8c193f5},
        {0x2d15d44c8e974d47, 0x3fc68aea26474ba4, 0x3fc68aea26474ba4,
         0xbfedc4d03e6e7be7},
        {0x8e7aad79d25fc137, 0x3fe1cf55af3a4bf8, 0x3fe1cf55af3a4bf9,
         0x3fc2354df805fc65},
    };
    struct random_stream zero = random_stream(0, RANDOM_PRIOR, 0, 0);
    struct random_stream s =
        random_stream(0x0123456789abcdef, RANDOM_TUNER, 0xfedcba9876543210, 42);

    CHECK(random_bits(&zero, 0) == 0xbf01871260e2b9f8);
    CHECK(random_bits(&zero, 1) == 0xc751d4355d58e17b);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(random_bits(&s, i) == golden[i][0]);
        CHECK(bits_of(random_uniform(&s, i)) == golden[i][1]);
        CHECK(bits_of(random_open(&s, i)) == golden[i][2]);
        CHECK(bits_of(random_normal(&s, i)) == golden[i][3]);
    }
    CHECK(random_bits(&s, 0xffffffff) == 0x7db84e805ce7a228);
}

TEST(random_hangs_on_every_part_of_the_name)
{
    const struct random_stream streams[] = {
        random_stream(1, RANDOM_TEST, 1, 1),
        random_stream(2, RANDOM_TEST, 1, 1),
        random_stream(1 + (UINT64_C(1) << 32), RANDOM_TEST, 1, 1),
        random_stream(1, RANDOM_FILTER, 1, 1),
        random_stream(1, RANDOM_TEST, 2, 1),
        random_stream(1, RANDOM_TEST, 1 + (UINT64_C(1) << 32), 1),
        random_stream(1, RANDOM_TEST, 1, 2),
    };

    for (int i = 0; i < 7; i++) {
        CHECK(random_bits(&streams[i], 1) != random_bits(&streams[i], 2));
        for (int j = 0; j < i; j++)
            CHECK(random_bits(&streams[i], 1) != random_bits(&streams[j], 1));
    }
}

TEST(random_uniform_fills_its_interval_evenly)
{
    enum { N = 200000, BINS = 64 };
    struct random_stream s = random_stream(5, RANDOM_TEST, 0, 0);
    int uniform[BINS] = {0}, open[BINS] = {0};
    double chi_uniform = 0, chi_open = 0;

    for (uint32_t i = 0; i < N; i++) {
        double u = random_uniform(&s, i);
        double o = random_open(&s, i);

        CHECK(0 <= u && u < 1);
        CHECK(0 < o && o < 1);
        CHECK(fabs(u - o) <= 0x1p-53);
        uniform[(int)(u * BINS)]++;
        open[(int)(o * BINS)]++;
    }
    for (int b = 0; b < BINS; b++) {
        double mean = (double)N / BINS;

        chi_uniform += (uniform[b] - mean) * (uniform[b] - mean) / mean;
        chi_open += (open[b] - mean) * (open[b] - mean) / mean;
    }
    /* 63 degrees of freedom: 0.1 % on either side. */
    CHECK(33.9 < chi_uniform && chi_uniform < 103.4);
    CHECK(33.9 < chi_open && chi_open < 103.4);
}

/* The same method in 128-bit arithmetic. */
static uint64_t
below(const struct random_stream *s, uint32_t draw, uint64_t n)
{
    uint64_t unfair = (uint64_t)(((unsigned __int128)1 << 64) % n);
    unsigned __int128 p;

    do
        p = (unsigned __int128)random_bits(s, draw++) * n;
    while ((uint64_t)p < unfair);
    return (uint64_t)(p >> 64);
}

TEST(random_below_is_exact_where_it_can_be_checked)
{
    const uint64_t odd = 0xfedcba987654321;
    struct random_stream s = random_stream(6, RANDOM_TEST, 0, 0);
    uint32_t draw = 0;

    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t bits = random_bits(&s, i);

        CHECK(random_below(&s, &draw, 1) == 0);
        draw = i;
        CHECK(random_below(&s, &draw, 2) == bits >> 63);
        draw = i;
        CHECK(random_below(&s, &draw, UINT64_C(1) << 63) == bits >> 1);
        CHECK_EQ(draw, i + 1);
        draw = i;
        CHECK(random_below(&s, &draw, odd) == below(&s, i, odd));
        draw = i;
        CHECK(random_below(&s, &draw, UINT64_MAX) == below(&s, i, UINT64_MAX));
    }
}

TEST(random_below_is_uniform)
{
    enum { N = 140000 };
    struct random_stream s = random_stream(7, RANDOM_TEST, 0, 0);
    uint32_t draw = 0;
    int counts[7] = {0};
    double chi = 0;

    for (int i = 0; i < N; i++) {
        uint64_t x = random_below(&s, &draw, 7);

        CHECK(x < 7);
        counts[x]++;
    }
    for (int b = 0; b < 7; b++)
        chi += (counts[b] - N / 7.0) * (counts[b] - N / 7.0) / (N / 7.0);
    CHECK(0.38 < chi && chi < 22.5); /* 6 degrees of freedom, 0.1 % each */
    CHECK_EQ(draw, N);
}

/* n = 3 * 2^62: a quarter of the draws is refused; without that, one third
 * of the range would come up twice as often as the others. */
TEST(random_below_refuses_what_would_be_unfair)
{
    enum { N = 90000 };
    struct random_stream s = random_stream(8, RANDOM_TEST, 0, 0);
    uint32_t draw = 0;
    int residues[3] = {0}, thirds[3] = {0};

    for (int i = 0; i < N; i++) {
        uint64_t x = random_below(&s, &draw, UINT64_C(3) << 62);

        residues[x % 3]++;
        thirds[x >> 62]++;
    }
    for (int i = 0; i < 3; i++) {
        CHECK(abs(residues[i] - N / 3) < 500); /* 3.5 deviations */
        CHECK(abs(thirds[i] - N / 3) < 500);
    }
    CHECK(119300 < draw && draw < 120700); /* 4/3 N */
}

TEST(random_normal_has_the_moments_of_one)
{
    enum { N = 200000 };

    for (uint32_t seed = 0; seed < 3; seed++) {
        struct random_stream s = random_stream(seed, RANDOM_TEST, 9, seed);
        double sum[5] = {0};
        int beyond = 0;

        for (uint32_t i = 0; i < N; i++) {
            double x = random_normal(&s, i);
            double power = 1;

            for (int k = 0; k < 5; k++, power *= x)
                sum[k] += power;
            beyond += fabs(x) > 1.959963984540054;
        }
        /* Four deviations of each: sqrt(1, 2, 15, 96) / sqrt(N). */
        CHECK(fabs(sum[1] / N) < 4 * 0.002237);
        CHECK(fabs(sum[2] / N - 1) < 4 * 0.003163);
        CHECK(fabs(sum[3] / N) < 4 * 0.008661);
        CHECK(fabs(sum[4] / N - 3) < 4 * 0.021909);
        CHECK(abs(beyond - N / 20) < 4 * 98);
    }
}
