/* SPDX-License-Identifier: MIT */
#include "sobol.h"

#include "philox.h"
#include "random.h"
#include "sobol_table.h"

#include <stddef.h>

/* DESIGN: Owen's scrambling is a binary tree of coins, one for each string of
 * leading digits.  A Philox block has 128 bits, and seven levels of the tree
 * have 127 nodes: so six blocks, each named by the digits above it, give all
 * 42 digits of a coordinate their flips. */

enum { LEVELS = 7, BLOCKS = NUM_SOBOL_BITS / LEVELS };

#define MASK ((UINT64_C(1) << NUM_SOBOL_BITS) - 1)

enum tree { TREE_VALUES = 0, TREE_ORDER = 1 };

struct num_sobol
num_sobol_new(uint64_t seed)
{
    struct random_stream stream = random_stream(seed, RANDOM_SOBOL, 0, 0);
    uint64_t bits = random_bits(&stream, 0);

    return (struct num_sobol){{(uint32_t)bits, (uint32_t)(bits >> 32)}};
}

/* From the `degree` before v[0]: I. A. Antonov, V. M. Saleev, "An economic
 * method of computing LP-tau sequences", USSR Comput. Math. Math. Phys. 19,
 * 1979. */
static uint64_t
next_direction(const uint64_t *v, uint32_t polynomial, int degree)
{
    uint64_t next = v[-degree] >> degree;

    for (int i = 1; i <= degree; i++)
        if (polynomial >> (degree - i) & 1)
            next ^= v[-i];
    return next;
}

uint64_t
num_sobol_digits(uint64_t index, uint32_t dim)
{
    /* m_k = 1 throughout for the first dimension, which has no polynomial. */
    const struct sobol_row *row = dim == 0 ? NULL : &sobol_table[dim - 1];
    uint64_t v[NUM_SOBOL_BITS];
    uint64_t digits = 0;
    int degree = row == NULL ? NUM_SOBOL_BITS : 1; /* or more */

    index &= MASK;
    while (row != NULL && row->polynomial >> (degree + 1) != 0)
        degree++;
    for (int k = 0; index >> k != 0; k++) {
        if (k < degree)
            v[k] = (uint64_t)(row == NULL ? 1 : row->m[k])
                   << (NUM_SOBOL_BITS - 1 - k);
        else
            v[k] = next_direction(v + k, row->polynomial, degree);
        if (index >> k & 1)
            digits ^= v[k];
    }
    return digits;
}

static uint64_t
scramble(const struct num_sobol *s, uint64_t digits, uint32_t number,
         enum tree tree)
{
    uint64_t out = 0;

    for (uint32_t b = 0; b < BLOCKS; b++) {
        int below = NUM_SOBOL_BITS - LEVELS * ((int)b + 1);
        uint64_t above = digits >> below >> LEVELS;
        uint32_t here = (uint32_t)(digits >> below) & 127;
        uint32_t flips = 0;
        struct philox_block coins =
            philox((struct philox_block){{(uint32_t)above,
                                          (uint32_t)(above >> 32) | b << 16,
                                          number, tree}},
                   s->key);

        for (uint32_t level = 0; level < LEVELS; level++) {
            uint32_t node = (1u << level) - 1 + (here >> (LEVELS - level));

            flips = flips << 1 | (coins.word[node / 32] >> node % 32 & 1);
        }
        out = out << LEVELS | (here ^ flips);
    }
    return out;
}

double
num_sobol(const struct num_sobol *s, uint64_t index, uint32_t dim)
{
    uint32_t block = dim / NUM_SOBOL_DIMS;
    uint64_t digits;

    index &= MASK;
    if (block > 0)
        index = scramble(s, index, block, TREE_ORDER);
    digits = num_sobol_digits(index, dim % NUM_SOBOL_DIMS);
    digits = scramble(s, digits, dim, TREE_VALUES);
    return ((double)digits + 0.5) * 0x1p-42;
}
