/* SPDX-License-Identifier: MIT */
#include "paired.h"

#include "numerics/elementary.h"
#include "numerics/normal.h"

#include <math.h>
#include <stdint.h>
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
static double
tail_exact(size_t n, size_t sum)
{
    double chance[SUM_MAX + 1] = {1}, total = 0;
    size_t top = 0;

    for (size_t rank = 1; rank <= n; rank++) {
        top += rank;
        for (size_t at = top + 1; at-- > 0;) {
            double with = at >= rank ? chance[at - rank] : 0;

            chance[at] = (chance[at] + with) / 2;
        }
    }
    for (size_t at = 0; at <= sum && at <= top; at++)
        total += chance[at];
    return total;
}

double
paired_tail(size_t n, long sum)
{
    double m = (double)n, mean = m * (m + 1) / 4;

    if (sum < 0)
        return 0;
    if (n <= EXACT_MAX)
        return tail_exact(n, (size_t)sum);
    return num_normal_cdf(((double)sum + 0.5 - mean) /
                          num_sqrt(mean * (2 * m + 1) / 6));
}

long
paired_critical(size_t n, double level)
{
    long low = -1, high = (long)(n * (n + 1) / 2);

    while (high - low > 1) {
        long sum = low + (high - low) / 2;

        if (paired_tail(n, sum) <= level / 2)
            low = sum;
        else
            high = sum;
    }
    return low;
}

int
paired_compare(const double *differences, size_t n, double level,
               struct paired *out)
{
    size_t n_means = n * (n + 1) / 2, at = 0, down = 0, up = 0;
    double *means = malloc(n_means * sizeof *means);
    long critical = paired_critical(n, level);

    *out = (struct paired){0};
    if (means == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        out->wins += differences[i] < -TIE;
        out->losses += differences[i] > TIE;
        for (size_t k = 0; k <= i; k++) {
            means[at] = (differences[i] + differences[k]) / 2;
            down += means[at] <= 0;
            up += means[at++] >= 0;
        }
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
    out->p = fmin(1, 2 * paired_tail(n, (long)(down < up ? down : up)));
    return 0;
}

/* From the least p on; the first that is no difference ends it. */
void
paired_holm(const double *p, size_t n, double level, double *out)
{
    bool ended = false;
    double strict = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t left = n; left > 0; left--) {
        size_t least = SIZE_MAX;

        for (size_t i = 0; i < n; i++)
            if (out[i] == 0 && (least == SIZE_MAX || p[i] < p[least]))
                least = i;
        if (!ended)
            strict = level / (double)left;
        out[least] = strict;
        ended = ended || p[least] > strict;
    }
}
