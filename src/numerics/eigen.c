/* SPDX-License-Identifier: MIT */
#include "linear.h"

#include "double_double.h"
#include "elementary.h"
#include "exp_core.h"
#include "pair.h"

/* DESIGN: Householder's reduction to tridiagonal form and the implicit QL
 * method with Wilkinson's shift (G. H. Golub, C. F. Van Loan, Matrix
 * Computations, 4th edition, algorithm 8.3.1 and section 8.3.3; A. Dubrulle,
 * R. S. Martin, J. H. Wilkinson, "The implicit QL algorithm", Numer. Math.
 * 12, 1968).  All long loops run along rows: A is kept as a full square while
 * it is reduced, from its last row up, and the eigenvectors are the rows of
 * `vectors`.
 *
 * A is first scaled by a power of two, so that no square over- or underflows
 * where it counts.  Reflection k, made of row k of A, leaves its vector in
 * that row, in elements 0 to k - 1, and its factor in element k; what is left
 * of the row goes right above that, where it is not needed any more. */

enum { MOST_SWEEPS = 60 }; /* for each eigenvalue; two are usual */

#define TINY 0x1p-500 /* below this, beside a largest element near 1: zero */

static double
size_of(double x)
{
    return x < 0 ? -x : x;
}

/* Copies the lower triangle to the upper and scales both so that the largest
 * element is near 1; the power of two by which to multiply back, or NaN. */
static double
prepare(double *a, size_t n)
{
    double most = 0, scale = 1, factor;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double x = size_of(a[i * n + j]);

            if (!(x <= DBL_MAX))
                return NUM_NAN;
            most = x > most ? x : most;
        }
    }
    if (most >= DBL_MIN)
        scale = dd_from_bits(dd_bits(most) & UINT64_C(0x7ff) << 52);
    else if (most > 0)
        scale = DBL_MIN;
    factor = 1 / scale;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = a[i * n + j] * factor;
    return scale;
}

/* A - v w' - w v' on its first m rows and columns. */
static void
rank_two_update(double *a, size_t n, size_t m, const double *v, const double *w)
{
    for (size_t i = 0; i < m; i++) {
        num_add_scaled(a + i * n, w, -v[i], m);
        num_add_scaled(a + i * n, v, -w[i], m);
    }
}

/* Reduces row k, of which elements 0 to k - 1 are v, to its element k - 1 by
 * a reflection I - factor v v', and does the same to the rows above.  Returns
 * what is left of the row. */
static double
reflect(double *a, size_t n, size_t k, double *work)
{
    double *v = a + k * n;
    double rest = num_dot(v, v, k - 1);
    double last = v[k - 1];
    double length, factor;

    v[k] = 0;
    if (!(rest > TINY))
        return last;
    length = num_sqrt(rest + last * last);
    if (last > 0)
        length = -length;
    v[k - 1] = last - length;
    factor = 2 / (rest + v[k - 1] * v[k - 1]);
    for (size_t i = 0; i < k; i++)
        work[i] = factor * num_dot(a + i * n, v, k);
    num_add_scaled(work, v, -0.5 * factor * num_dot(work, v, k), k);
    rank_two_update(a, n, k, v, work);
    v[k] = factor;
    return length;
}

/* To diagonal d and, beside it, what is left of each row. */
static void
tridiagonalise(double *a, size_t n, double *d, double *work)
{
    for (size_t k = n; k-- > 0;) {
        d[k] = a[k * n + k];
        if (k > 0)
            a[(k - 1) * n + k] = reflect(a, n, k, work);
    }
}

/* Rows of q: the basis in which A is tridiagonal, grown from the top: before
 * reflection k only the first k rows and columns differ from the unit
 * matrix. */
static void
accumulate(const double *a, size_t n, double *q)
{
    for (size_t i = 0; i < n * n; i++)
        q[i] = 0;
    for (size_t k = 0; k < n; k++) {
        const double *v = a + k * n;
        double factor = v[k];

        q[k * n + k] = 1;
        if (k == 0 || factor == 0)
            continue;
        for (size_t i = 0; i < k; i++) {
            double *row = q + i * n;

            num_add_scaled(row, v, -factor * num_dot(row, v, k), k);
        }
    }
}

/* sqrt(x^2 + y^2) for numbers near 1 or tiny. */
static double
length_of(double x, double y)
{
    double p = size_of(x), q = size_of(y);
    double most = p > q ? p : q, least = p > q ? q : p;
    double ratio;

    if (most == 0)
        return 0;
    ratio = least / most;
    return most * num_sqrt(1 + ratio * ratio);
}

static void
rotate_rows(double *x, double *y, double c, double s, size_t n)
{
    pair cc = {c, c}, ss = {s, s};
    size_t i = 0;

    for (; i + 2 <= n; i += 2) {
        pair p = pair_load(x + i), q = pair_load(y + i);

        pair_store(x + i, cc * p - ss * q);
        pair_store(y + i, ss * p + cc * q);
    }
    if (i < n) {
        double p = x[i], q = y[i];

        x[i] = c * p - s * q;
        y[i] = s * p + c * q;
    }
}

/* The first m >= l with nothing to speak of beside it. */
static size_t
block_end(const double *d, const double *e, size_t n, size_t l)
{
    size_t m = l;

    while (m + 1 < n) {
        double around = size_of(d[m]) + size_of(d[m + 1]);

        if (size_of(e[m + 1]) <= 0x1p-53 * around || size_of(e[m + 1]) < TINY)
            break;
        m++;
    }
    return m;
}

/* One QL sweep over the block l to m. */
static void
sweep(double *d, double *e, size_t n, size_t l, size_t m, double *q)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l + 1]);
    double r = length_of(g, 1);
    double s = 1, c = 1, p = 0;

    g = d[m] - d[l] + e[l + 1] / (g + (g < 0 ? -r : r));
    for (size_t i = m; i-- > l;) {
        double f = s * e[i + 1];
        double b = c * e[i + 1];

        r = length_of(f, g);
        if (i + 2 <= m)
            e[i + 2] = r;
        if (r == 0) { /* the block has come apart */
            d[i + 1] -= p;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate_rows(q + i * n, q + (i + 1) * n, c, s, n);
    }
    d[l] -= p;
    e[l + 1] = g;
}

static int
diagonalise(double *d, double *e, size_t n, double *q)
{
    for (size_t l = 0; l < n; l++) {
        for (int sweeps = 0;; sweeps++) {
            size_t m = block_end(d, e, n, l);

            if (m == l)
                break;
            if (sweeps == MOST_SWEEPS)
                return -1;
            sweep(d, e, n, l, m, q);
        }
    }
    return 0;
}

static void
swap(double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double t = x[i];

        x[i] = y[i];
        y[i] = t;
    }
}

static void
sort_ascending(double *values, double *vectors, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        size_t least = i;

        for (size_t j = i + 1; j < n; j++)
            if (values[j] < values[least])
                least = j;
        if (least == i)
            continue;
        swap(values + i, values + least, 1);
        swap(vectors + i * n, vectors + least * n, n);
    }
}

static void
fix_sign(double *vector, size_t n)
{
    size_t most = 0;

    for (size_t i = 1; i < n; i++)
        if (size_of(vector[i]) > size_of(vector[most]))
            most = i;
    if (vector[most] < 0)
        for (size_t i = 0; i < n; i++)
            vector[i] = -vector[i];
}

int
num_eigen_symmetric(double *a, size_t n, double *values, double *vectors)
{
    double scale = prepare(a, n);
    double *e = a; /* in A's place once A is read for the last time */

    if (scale != scale)
        return -1;
    tridiagonalise(a, n, values, vectors);
    accumulate(a, n, vectors);
    for (size_t i = 1; i < n; i++)
        e[i] = a[(i - 1) * n + i];
    if (diagonalise(values, e, n, vectors) != 0)
        return -1;
    sort_ascending(values, vectors, n);
    for (size_t i = 0; i < n; i++) {
        values[i] *= scale;
        fix_sign(vectors + i * n, n);
    }
    return 0;
}
