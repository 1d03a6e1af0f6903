/* SPDX-License-Identifier: MIT */
#include "philox.h"

enum { ROUNDS = 10 };

/* The multipliers and Weyl increments of section 3.3 of the paper. */
#define M0 0xd2511f53u
#define M1 0xcd9e8d57u
#define W0 0x9e3779b9u /* golden ratio */
#define W1 0xbb67ae85u /* sqrt(3) - 1 */

struct philox_block
philox(struct philox_block c, const uint32_t key[2])
{
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t p0 = (uint64_t)M0 * c.word[0];
        uint64_t p1 = (uint64_t)M1 * c.word[2];

        c = (struct philox_block){
            {(uint32_t)(p1 >> 32) ^ c.word[1] ^ k0, (uint32_t)p1,
             (uint32_t)(p0 >> 32) ^ c.word[3] ^ k1, (uint32_t)p0}};
        k0 += W0;
        k1 += W1;
    }
    return c;
}
