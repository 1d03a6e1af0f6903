/* SPDX-License-Identifier: MIT */
#include "normal.h"

#include "batch.h"
#include "elementary.h"
#include "pair.h"
#include "tail_table.h"

#include <stdbool.h>

/* DESIGN: Phi(-x), x from 0 to 10, by its Taylor series about the nearest
 * multiple of 1/16, whose coefficients tail_table has: eleven loads and
 * ten multiplications, no exponential and no division, two at a time.  The
 * interval is mirrored so that its middle is left of zero.  What would lose
 * too much as a difference of two such values (narrow intervals, and those
 * beyond the table) goes through the logarithm of the mass. */

#define TABLE_END 10.0
#define NO_MATTER 6.0 /* Phi(-10) is 1e-14 of Phi(-6) */
#define NARROWEST 0x1p-13

/* Phi(-x); 0 beyond the table, for x < 0 and for NaN. */
static pair
tail_pair(pair x)
{
    const pair end = {TABLE_END, TABLE_END}, zero = {0, 0};
    const double shift = 0x1.8p52;
    pair_mask inside = (x >= zero) & (x <= end);
    pair at = pair_select(inside, x, end);
    pair shifted = at * 16 + shift;
    pair h = at - (shifted - shift) * 0.0625;
    const double *s = tail_table[dd_bits(shifted[0]) & 255].a;
    const double *t = tail_table[dd_bits(shifted[1]) & 255].a;
    pair sum = {s[10], t[10]};

    for (int i = 9; i >= 0; i--)
        sum = sum * h + (pair){s[i], t[i]};
    return pair_select(inside, sum, zero);
}

static pair
mass_pair(pair a, pair b)
{
    const pair zero = {0, 0};
    pair_mask right = a + b > zero;
    pair low = pair_select(right, -b, a);
    pair high = pair_select(right, -a, b);
    pair_mask positive = high > zero;
    pair q = tail_pair(pair_select(positive, high, -high));

    return pair_select(positive, 1 - q, q) - tail_pair(-low);
}

/* Whether mass_pair is good enough. */
static bool
is_easy(double a, double b)
{
    bool outside = a < -TABLE_END || b > TABLE_END;
    bool far = b < -NO_MATTER || a > NO_MATTER;

    return b - a >= NARROWEST && !(outside && far);
}

static double
mass_checked(double a, double b, double fast)
{
    return is_easy(a, b) ? fast : num_exp(num_log_normal_mass(a, b));
}

double
num_normal_mass(double a, double b)
{
    return mass_checked(a, b, mass_pair((pair){a, a}, (pair){b, b})[0]);
}

void
num_normal_mass_n(const double *a, const double *b, double *out, size_t n)
{
    size_t i = 0;

    for (; i + 2 <= n; i += 2) {
        pair low = pair_load(a + i), high = pair_load(b + i);
        pair fast = mass_pair(low, high);

        out[i] = mass_checked(low[0], high[0], fast[0]);
        out[i + 1] = mass_checked(low[1], high[1], fast[1]);
    }
    if (i < n)
        out[i] = num_normal_mass(a[i], b[i]);
}
