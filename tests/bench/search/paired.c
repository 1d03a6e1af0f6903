/* SPDX-License-Identifier: MIT */
#include "paired.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>

#define EXACT_MAX 60
#define SUM_MAX (EXACT_MAX * (EXACT_MAX + 1) / 2)
#define TIE 1e-9 /* of differences of logarithms */

/* Puts what is less than the pivot before, and what is greater behind it; the
 * range of what equals it comes out. */
static void
divide(double *v, size_t n, double pivot, size_t *from, size_t *to)
{
    size_t at = 0;

    *from = 0;
    *to = n;
    while (at < *to) {
        double x = v[at];

        if (x < pivot) {
            v[at++] = v[*from];
            v[(*from)++] = x;
        } else if (x > pivot) {
            v[at] = v[--*to];
            v[*to] = x;
        } else {
            at++;
        }
    }
}

double
paired_select(double *v, size_t n, size_t k)
{
    for (;;) {
        double a = v[0], b = v[n / 2], c = v[n - 1];
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t from, to;

        divide(v, n, pivot, &from, &to);
        if (k >= from && k < to)
            return pivot;
        if (k < from) {
            n = from;
        } else {
            v += to;
            n -= to;
            k -= to;
        }
    }
}

double
paired_median(double *v, size_t n)
{
    double upper = paired_select(v, n, n / 2);

    if (n % 2 == 1)
        return upper;
    return (paired_select(v, n, n / 2 - 1) + upper) / 2;
}

void
paired_ranks(const double *v, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t less = 0, same = 0;

        for (size_t k = 0; k < n; k++) {
            less += v[k] < v[i];
            same += v[k] == v[i];
        }
        out[i] = (double)less + (double)(same + 1) / 2;
    }
}

/* The number of subsets of 1 ... n with each sum, divided by 2^n. */
static long
critical_exact(size_t n)
{
    double chance[SUM_MAX + 1] = {1}, total = 0;
    size_t top = 0;
    long t = -1;

    for (size_t rank = 1; rank <= n; rank++) {
        top += rank;
        for (size_t sum = top + 1; sum-- > 0;) {
            double with = sum >= rank ? chance[sum - rank] : 0;

            chance[sum] = (chance[sum] + with) / 2;
        }
    }
    while ((size_t)(t + 1) <= top && total + chance[t + 1] <= 0.025)
        total += chance[++t];
    return t;
}

long
paired_critical(size_t n)
{
    double m = (double)n;

    if (n <= EXACT_MAX)
        return critical_exact(n);
    return (long)floor(m * (m + 1) / 4 - 0.5 -
                       1.959963984540054 *
                           num_sqrt(m * (m + 1) * (2 * m + 1) / 24));
}

int
paired_compare(const double *differences, size_t n, struct paired *out)
{
    size_t n_means = n * (n + 1) / 2, at = 0;
    double *means = malloc(n_means * sizeof *means);
    long critical = paired_critical(n);

    *out = (struct paired){0};
    if (means == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        out->wins += differences[i] < -TIE;
        out->losses += differences[i] > TIE;
        for (size_t k = 0; k <= i; k++)
            means[at++] = (differences[i] + differences[k]) / 2;
    }
    out->ties = n - out->wins - out->losses;
    out->shift = paired_median(means, n_means);
    out->has_interval = critical >= 0;
    if (critical >= 0) {
        size_t k = (size_t)critical;

        out->low = paired_select(means, n_means, k);
        out->high = paired_select(means, n_means, n_means - 1 - k);
    }
    free(means);
    return 0;
}
