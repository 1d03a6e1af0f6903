/* SPDX-License-Identifier: MIT */
#include "matern.h"

#include "elementary.h"
#include "pair.h"

#define SQRT_5 2.23606797749979
#define LOG2_E 1.4426950408889634
#define LN_2 0.6931471805599453
#define FAR 700 /* where e^-r is 0 */

/* e^-r is 2^-k times a series in what is left of r. */
double
num_decay(double r)
{
    double k, x, square, low, high;
    uint64_t bits;

    if (!(r < FAR))
        return 0;
    k = (double)(int64_t)(r * LOG2_E + 0.5);
    x = k * LN_2 - r; /* within +-0.347 */
    square = x * x;
    low = (1 + x) + (1.0 / 2 + x * (1.0 / 6)) * square;
    high =
        (1.0 / 24 + x * (1.0 / 120)) + (1.0 / 720 + x * (1.0 / 5040)) * square;
    bits = (uint64_t)(1023 - (int64_t)k) << 52;
    memcpy(&x, &bits, sizeof x);
    return (low + high * (square * square)) * x;
}

double
num_matern52(double square)
{
    double r = SQRT_5 * num_sqrt(square);

    return (1 + r + r * r / 3) * num_decay(r);
}

/* num_decay, two at a time. */
static pair
decay_pair(pair r)
{
    const pair whole = {0x1.8p52, 0x1.8p52}, one = {1, 1}, none = {0, 0};
    pair half = r * LOG2_E + 0.5, k = (half + whole) - whole;
    pair x, square, low, high;
    pair_mask bits;

    k -= pair_select(k > half, one, none);
    x = k * LN_2 - r;
    square = x * x;
    low = (1 + x) + (1.0 / 2 + x * (1.0 / 6)) * square;
    high =
        (1.0 / 24 + x * (1.0 / 120)) + (1.0 / 720 + x * (1.0 / 5040)) * square;
    bits = (1023 - ((pair_mask)(k + whole) - (pair_mask)whole)) << 52;
    return pair_select(r < FAR, (low + high * (square * square)) * (pair)bits,
                       none);
}

void
num_matern52_n(const double *squares, double *value, double *slope, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        size_t last = i + 1 < n ? i + 1 : i;
        pair r = {num_sqrt(squares[i]), num_sqrt(squares[last])}, e;

        r = SQRT_5 * r;
        e = decay_pair(r);
        value[i] = ((1 + r + r * r / 3) * e)[0];
        value[last] = ((1 + r + r * r / 3) * e)[last - i];
        slope[i] = ((1 + r) * e)[0] * (-5.0 / 6);
        slope[last] = ((1 + r) * e)[last - i] * (-5.0 / 6);
    }
}
