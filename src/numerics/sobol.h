/* SPDX-License-Identifier: MIT */
/* sobol.h - scrambled Sobol points: low-discrepancy numbers as a function of
 * (seed, index, dimension), like those of random.h.
 *
 * I. M. Sobol', "On the distribution of points in a cube", USSR Comput. Math.
 * Math. Phys. 7, 1967, with the direction numbers of S. Joe and F. Y. Kuo
 * (SIAM J. Sci. Comput. 30, 2008), scrambled after A. B. Owen, "Randomly
 * permuted (t, m, s)-nets and (t, s)-sequences", 1995: in full, every digit's
 * flip a coin of its own that depends on all digits before it.
 *
 * A stored promise, as in random.h.  Any thread, nothing fails, no state. */
#ifndef NUMERICS_SOBOL_H
#define NUMERICS_SOBOL_H

#include <stdint.h>

/* NUM_SOBOL_DIMS dimensions have direction numbers.  Each further block of as
 * many uses them again in an order of points of its own, as after B. Burley,
 * "Practical hash-based Owen scrambling", JCGT 9, 2020: within a block, and
 * for each dimension alone, everything holds; between blocks points pair up
 * as if by chance. */
enum { NUM_SOBOL_DIMS = 1111, NUM_SOBOL_BITS = 42 };

/* Held by value; members are sobol.c's. */
struct num_sobol {
    uint32_t key[2];
};

struct num_sobol num_sobol_new(uint64_t seed);

/* In (0, 1): an odd multiple of 2^-43.  Of the points from k 2^m to
 * (k + 1) 2^m - 1, every interval [j 2^-m, (j + 1) 2^-m) holds exactly one, in
 * each dimension.  index < 2^42, of larger ones the high bits are ignored. */
double num_sobol(const struct num_sobol *s, uint64_t index, uint32_t dim);

/* Without scrambling, times 2^42; the order is that of plain binary, not of
 * Gray's code; dim < NUM_SOBOL_DIMS. */
uint64_t num_sobol_digits(uint64_t index, uint32_t dim);

#endif
