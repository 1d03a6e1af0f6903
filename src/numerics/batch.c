/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "double_double.h"
#include "elementary.h"
#include "exp_core.h"
#include "exp_table.h"
#include "log_core.h"
#include "normal.h"
#include "pair.h"

/* DESIGN: num_exp_n does what exp_core and scaled_round do, two at a time and
 * without the branches; what they were for (results that are not normal
 * numbers) is told from the argument and done by num_exp. */

enum { BLOCK = 64 };

#define EXP_LEAST (-708.0)
#define EXP_MOST 709.0

/* value * 2^(k div 64), by adding to its exponent; k as exp_pair has it. */
static double
scale(double value, uint64_t k)
{
    return dd_from_bits(dd_bits(value) + ((k & ~UINT64_C(63)) << 46));
}

static pair
exp_pair(pair x)
{
    const double shift = 0x1.8p52;
    pair shifted = x * EXP_STEPS_PER_ONE + shift;
    pair k = shifted - shift;
    uint64_t k0 = dd_bits(shifted[0]), k1 = dd_bits(shifted[1]);
    const struct exp_row *t0 = &exp_table[k0 % 64];
    const struct exp_row *t1 = &exp_table[k1 % 64];
    pair t = {t0->hi, t1->hi}, t_lo = {t0->lo, t1->lo};
    /* r = a + b as dd_sum has it; t + t h as dd_fast_sum has it. */
    pair a = x - k * EXP_STEP_HI, b = -(k * EXP_STEP_MID);
    pair h = a + b, v = h - a;
    pair low = ((a - (h - v)) + (b - v)) + (0 - k * EXP_STEP_LO);
    pair q = 1 / 6.0 + h * (1 / 24.0 + h * (1 / 120.0 + h * (1 / 720.0)));
    pair tail = h * h * (0.5 + h * q) + (low + low * (h + 0.5 * (h * h)));
    pair th = t * h, s = t + th, s_lo = th - (s - t);
    pair value = s + (s_lo + (t_lo + t * tail));

    return (pair){scale(value[0], k0), scale(value[1], k1)};
}

/* For one that exp_pair cannot do. */
static double
exp_checked(double x, double fast)
{
    return x >= EXP_LEAST && x <= EXP_MOST ? fast : num_exp(x);
}

void
num_exp_n(const double *v, double *out, size_t n)
{
    size_t i = 0;

    for (; i + 2 <= n; i += 2) {
        double x = v[i], y = v[i + 1];
        pair fast = exp_pair((pair){x, y});

        out[i] = exp_checked(x, fast[0]);
        out[i + 1] = exp_checked(y, fast[1]);
    }
    if (i < n)
        out[i] = num_exp(v[i]);
}

/* DESIGN: with k + f = x / ln2, (1 + f) 2^k is e^x to 2^1.0861 of it, and its
 * upper half is the number itself, written as an integer: N. N. Schraudolph, "A
 * fast, compact approximation of the exponential function", Neural Computation
 * 11, 1999. */
static pair
exp_least(pair x)
{
    const double per_one = 0x1.71547652b82fep+20; /* 2^20 / ln2 */
    const double zero = 0x1.8p52 + (1023 - 0.08608) * 0x1p20;
    const pair least = {-700, -700};
    pair shifted = pair_select(x > least, x, least) * per_one + zero;

    return (pair)((pair_bits)shifted << 32);
}

double
num_sum_exp_least(const double *v, double minus, size_t n)
{
    pair a = {0, 0}, b = {0, 0};

    for (size_t i = 0; i < n; i += 4) {
        a += exp_least(pair_load(v + i) - minus);
        b += exp_least(pair_load(v + i + 2) - minus);
    }
    a += b;
    return a[0] + a[1];
}

void
num_log_normal_mass_n(const double *a, const double *b, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = num_log_normal_mass(a[i], b[i]);
}

static double
largest(const double *v, size_t n)
{
    double most = -NUM_INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (v[i] != v[i])
            return NUM_NAN;
        if (v[i] > most)
            most = v[i];
    }
    return most;
}

double
num_log_sum_exp(const double *v, size_t n)
{
    double most = largest(v, n);
    struct dd sum = {0, 0}, log;
    double terms[BLOCK];

    if (!(most >= -DBL_MAX && most <= DBL_MAX))
        return most; /* nothing, +inf or NaN decides */
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;

        for (size_t j = 0; j < m; j++)
            terms[j] = v[i + j] - most;
        num_exp_n(terms, terms, m);
        for (size_t j = 0; j < m; j++) {
            struct dd s = dd_sum(sum.hi, terms[j]);

            sum = (struct dd){s.hi, sum.lo + s.lo};
        }
    }
    sum = log_core(dd_fast_sum(sum.hi, sum.lo));
    log = dd_sum(most, sum.hi);
    return log.hi + (log.lo + sum.lo);
}
