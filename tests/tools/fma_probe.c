/* SPDX-License-Identifier: MIT */

/* fma_probe - two fingerprints, one of src/numerics and one of the C library's
 * mathematical functions, over the same many arguments.  Run with and without
 * the CPU's fused multiply-add hidden from the C library, the first must stay
 * and the second shows that there was something to hide. */

#include "numerics/elementary.h"
#include "numerics/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 50000 };

/* FNV-1a over the eight bytes, whole words at a time. */
static uint64_t
mix(uint64_t hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return (hash ^ bits) * 0x100000001b3u;
}

int
main(void)
{
    struct random_stream s = random_stream(30, RANDOM_TEST, 0, 0);
    uint64_t ours = 0xcbf29ce484222325u;
    uint64_t theirs = ours;

    for (uint32_t i = 0; i < POINTS; i++) {
        double u = random_open(&s, 2 * i);
        double x = (2 * random_open(&s, 2 * i + 1) - 1) * 30;

        ours = mix(ours, num_exp(x * 24));
        ours = mix(ours, num_log(u));
        ours = mix(ours, num_log(num_exp(x)));
        ours = mix(ours, num_erfc(x));
        ours = mix(ours, num_erfc(x / 8));
        ours = mix(ours, num_normal_quantile(u));
        ours = mix(ours, num_normal_quantile(num_exp(-x * x)));
        ours = mix(ours, num_sqrt(u));
        ours = mix(ours, num_round_even(x * 2));
        ours = mix(ours, random_normal(&s, i));
        theirs = mix(theirs, exp(x));
        theirs = mix(theirs, log(u));
        theirs = mix(theirs, pow(u, x));
        theirs = mix(theirs, sin(x));
    }
    printf("%016" PRIx64 " %016" PRIx64 "\n", ours, theirs);
    return 0;
}
