/* SPDX-License-Identifier: MIT */
#include "exp_sum.h"

#include "double_double.h"

#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HI                                                    \
    0x1.62e42fefa0000p-1 /* 20 bits to spare: k * LN2_HI is exact \
                          */
#define LN2_LO 0x1.cf79abc9e3b3ap-40
#define ROUNDER                                                  \
    0x1.8p52 /* x + ROUNDER: the nearest integer in the low bits \
              */
#define LEAST -700.0
#define NEGLIGIBLE -40.0 /* e^-40 is 4e-18 */

static inline double
larger(double a, double b)
{
    return a > b ? a : b;
}

/* Of NUM_LANES. */
static inline double
largest_lane(const double *v)
{
    double most[NUM_LANES / 2];

    for (size_t l = 0; l < NUM_LANES / 2; l++)
        most[l] = larger(v[l], v[l + NUM_LANES / 2]);
    for (size_t half = NUM_LANES / 4; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            most[l] = larger(most[l], most[l + half]);
    return most[0];
}

double
num_largest(const double *v, size_t n)
{
    double most[NUM_LANES];

    for (size_t l = 0; l < NUM_LANES; l++)
        most[l] = v[l];
    for (size_t i = NUM_LANES; i < n; i += NUM_LANES)
        for (size_t l = 0; l < NUM_LANES; l++)
            most[l] = larger(v[i + l], most[l]);
    return largest_lane(most);
}

/* x = k ln 2 + r, |r| <= ln 2 / 2; e^r by Taylor's series, whose tail is below
 * 2 r^9 / 9! < 4e-10; 2^k by its exponent.  x in [LEAST, 0]. */
static inline double
exp_of(double x)
{
    double shifted = x * LOG2_E + ROUNDER;
    double k = shifted - ROUNDER;
    double r = (x - k * LN2_HI) - k * LN2_LO;
    double p = 1.0 / 40320;

    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * dd_from_bits((dd_bits(shifted) + 1023) << 52);
}

double
num_exp_sum(const double *v, size_t n, double most)
{
    double sum[NUM_LANES] = {0};

    for (size_t i = 0; i < n; i += NUM_LANES) {
        if (largest_lane(v + i) - most < NEGLIGIBLE)
            continue;
        for (size_t l = 0; l < NUM_LANES; l++)
            sum[l] += exp_of(larger(v[i + l] - most, LEAST));
    }
    for (size_t half = NUM_LANES / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            sum[l] += sum[l + half];
    return sum[0];
}
