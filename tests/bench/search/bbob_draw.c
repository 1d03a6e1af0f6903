/* SPDX-License-Identifier: MIT */
#include "bbob_parts.h"

#include "numerics/elementary.h"

#include <math.h>
#include <string.h>

/* ---- the suite's random numbers ---- */

static int64_t
lehmer(int64_t state)
{
    state = 16807 * (state % 127773) - 2836 * (state / 127773);
    return state < 0 ? state + 2147483647 : state;
}

/* Numbers in (0, 1): Lehmer's, shuffled through a table of 32. */
static void
draw_uniform(double *out, size_t n, uint64_t seed)
{
    int64_t state = seed > 0 ? (int64_t)seed : 1, table[32], last;

    for (int i = 39; i >= 0; i--) {
        state = lehmer(state);
        if (i < 32)
            table[i] = state;
    }
    last = table[0];
    for (size_t i = 0; i < n; i++) {
        int64_t slot = last / 67108865;

        state = lehmer(state);
        last = table[slot];
        table[slot] = state;
        out[i] = (double)last / 2.147483647e9;
        if (out[i] == 0)
            out[i] = 1e-99;
    }
}

static void
draw_normal(double *out, size_t n, uint64_t seed)
{
    double u[2 * D * D];

    draw_uniform(u, 2 * n, seed);
    for (size_t i = 0; i < n; i++) {
        out[i] = num_sqrt(-2 * num_log(u[i])) * cos(2 * PI * u[n + i]);
        if (out[i] == 0)
            out[i] = 1e-99;
    }
}

/* Columns of normal numbers, made orthonormal one after the other. */
static void
draw_rotation(double out[D][D], size_t n, uint64_t seed)
{
    double g[D * D], sum;

    draw_normal(g, n * n, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            out[k][i] = g[i * n + k];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += out[k][i] * out[k][j];
            for (size_t k = 0; k < n; k++)
                out[k][i] -= sum * out[k][j];
        }
        sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += out[k][i] * out[k][i];
        for (size_t k = 0; k < n; k++)
            out[k][i] /= num_sqrt(sum);
    }
}

static double
draw_best(uint64_t seed)
{
    double a, b, v;

    draw_normal(&a, 1, seed);
    draw_normal(&b, 1, seed + 1);
    v = num_round_even(1e4 * a / b) / 100;
    return v < -1000 ? -1000 : v > 1000 ? 1000 : v;
}

/* ---- instances ---- */

void
bbob_draw_corner(struct bbob *b, uint64_t seed)
{
    (void)seed;
    for (size_t i = 0; i < b->n; i++)
        b->x[i] = copysign(5, b->x[i]);
}

/* The optimum is where the rotated and scaled x is 1 everywhere. */
void
bbob_draw_rosenbrock(struct bbob *b, uint64_t seed)
{
    (void)seed;
    for (size_t i = 0; i < b->n; i++) {
        b->x[i] = 0;
        for (size_t k = 0; k < b->n; k++)
            b->x[i] += b->r[k][i] * 0.5 / b->factor;
    }
}

/* out[i] is the index of the i-th smallest of n drawn numbers. */
static void
draw_order(size_t *out, size_t n, uint64_t seed)
{
    double u[PEAKS];

    draw_uniform(u, n, seed);
    for (size_t i = 0; i < n; i++) {
        size_t at = i;

        for (; at > 0 && u[out[at - 1]] > u[i]; at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
}

void
bbob_draw_peaks(struct bbob *b, uint64_t seed)
{
    double u[PEAKS * D];
    size_t order[PEAKS], axes[D], n = b->n;

    draw_order(order, PEAKS - 1, seed);
    draw_uniform(u, PEAKS * n, seed);
    for (size_t p = 0; p < PEAKS; p++) {
        double condition = num_sqrt(1000);

        if (p > 0)
            condition = num_pow(1000, (double)order[p - 1] / (PEAKS - 2));
        b->weight[p] = p == 0 ? 10 : 1.1 + 8.0 * (double)(p - 1) / (PEAKS - 2);
        draw_order(axes, n, seed + 1000 * p);
        for (size_t i = 0; i < n; i++) {
            b->scale[p][i] = num_pow(condition, part(b, axes[i]) - 0.5);
            b->peak[p][i] = (10 * u[p * n + i] - 5) * (p == 0 ? 0.8 : 1);
        }
        if (p == 0)
            memcpy(b->x, b->peak[p], n * sizeof *b->x);
        bbob_rotate(b->r, n, b->peak[p]);
    }
}

void
bbob_draw(struct bbob *b, uint64_t seed)
{
    b->best = draw_best(seed);
    draw_uniform(b->x, b->n, seed);
    for (size_t i = 0; i < b->n; i++) {
        b->x[i] = 8 * floor(1e4 * b->x[i]) / 1e4 - 4;
        if (b->x[i] == 0)
            b->x[i] = -1e-5;
    }
    draw_rotation(b->q, b->n, seed);
    draw_rotation(b->r, b->n, seed + 1000000);
    b->factor = num_sqrt((double)b->n) / 8;
    if (b->factor < 1)
        b->factor = 1;
}

void
bbob_rotate(const double m[D][D], size_t n, double *z)
{
    double out[D];

    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < n; k++)
            out[i] += m[i][k] * z[k];
    }
    memcpy(z, out, n * sizeof *z);
}
