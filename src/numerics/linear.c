/* SPDX-License-Identifier: MIT */
#include "linear.h"

#include "double_double.h"
#include "elementary.h"
#include "pair.h"

double
num_dot(const double *a, const double *b, size_t n)
{
    pair low = {0, 0}, high = {0, 0};
    double sums[4];
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        low += pair_load(a + i) * pair_load(b + i);
        high += pair_load(a + i + 2) * pair_load(b + i + 2);
    }
    memcpy(sums, &low, sizeof(low));
    memcpy(sums + 2, &high, sizeof(high));
    for (size_t k = 0; i < n; i++, k++)
        sums[k] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void
num_add_scaled(double *y, const double *x, double factor, size_t n)
{
    pair both = {factor, factor};
    size_t i = 0;

    for (; i + 2 <= n; i += 2)
        pair_store(y + i, pair_load(y + i) + both * pair_load(x + i));
    if (i < n)
        y[i] += factor * x[i];
}

int
num_cholesky_row(double *a, size_t stride, size_t i)
{
    double *row = a + i * stride;
    double rest;

    for (size_t j = 0; j < i; j++) {
        const double *other = a + j * stride;

        row[j] = (row[j] - num_dot(row, other, j)) / other[j];
    }
    rest = row[i] - num_dot(row, row, i);
    if (!(rest > 0 && rest <= DBL_MAX))
        return -1;
    row[i] = num_sqrt(rest);
    return 0;
}

int
num_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (num_cholesky_row(a, n, i) != 0)
            return -1;
    return 0;
}

void
num_cholesky_inverse(const double *l, size_t stride, size_t n, double *inverse)
{
    double *up = inverse; /* L^-T first, row k: column k of L^-1 */

    for (size_t k = 0; k < n; k++) {
        double *row = up + k * stride;

        memset(row, 0, n * sizeof *row);
        row[k] = 1;
        for (size_t i = k; i < n; i++)
            row[i] = (row[i] - num_dot(l + i * stride + k, row + k, i - k)) /
                     l[i * stride + i];
    }
    /* (L^-T L^-1)[k][i], i >= k, needs rows i and k from i on: what is written
     * is read by no later i of this k. */
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++)
            up[k * stride + i] =
                num_dot(up + i * stride + i, up + k * stride + i, n - i);
}

void
num_lower_solve(const double *l, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (b[i] - num_dot(l + i * n, b, i)) / l[i * n + i];
}

void
num_upper_solve(const double *l, size_t n, double *b)
{
    for (size_t i = n; i-- > 0;) {
        b[i] /= l[i * n + i];
        num_add_scaled(b, l + i * n, -b[i], i);
    }
}

void
num_cholesky_solve(const double *l, size_t n, double *b)
{
    num_lower_solve(l, n, b);
    num_upper_solve(l, n, b);
}

double
num_cholesky_log_det(const double *l, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += num_log(l[i * n + i]);
    return 2 * sum;
}
