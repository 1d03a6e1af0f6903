/* SPDX-License-Identifier: MIT */
/* DESIGN
 * A function is a few lines over shared transformations (T_osz, T_asy, Lambda,
 * f_pen of section 0.2 of the report), found in a table by its number.  Each
 * works on a copy of x - x_opt in `z`, and returns its value above the optimum.
 */
#include "bbob.h"

#include "bbob_parts.h"
#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- transformations ---- */

static double
oscillate(double x)
{
    double log_x, wave;

    if (x == 0)
        return 0;
    log_x = num_log(fabs(x));
    wave = x > 0 ? sin(10 * log_x) + sin(7.9 * log_x)
                 : sin(5.5 * log_x) + sin(3.1 * log_x);
    return copysign(num_exp(log_x + 0.049 * wave), x);
}

static void
oscillate_all(const struct bbob *b, double *z)
{
    for (size_t i = 0; i < b->n; i++)
        z[i] = oscillate(z[i]);
}

static void
skew(const struct bbob *b, double beta, double *z)
{
    for (size_t i = 0; i < b->n; i++)
        if (z[i] > 0)
            z[i] = num_pow(z[i], 1 + beta * part(b, i) * num_sqrt(z[i]));
}

static void
stretch(const struct bbob *b, double alpha, double *z)
{
    for (size_t i = 0; i < b->n; i++)
        z[i] *= num_pow(alpha, 0.5 * part(b, i));
}

/* For leaving -5 ... 5. */
static double
penalty(const struct bbob *b, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < b->n; i++) {
        double out = fabs(x[i]) - 5;

        sum += out > 0 ? out * out : 0;
    }
    return sum;
}

static void
shift(const struct bbob *b, const double *x, double *z)
{
    for (size_t i = 0; i < b->n; i++)
        z[i] = x[i] - b->x[i];
}

static double
rastrigin(const struct bbob *b, const double *z)
{
    double sum = 0;

    for (size_t i = 0; i < b->n; i++)
        sum += z[i] * z[i] + 10 * (1 - cos(2 * PI * z[i]));
    return sum;
}

/* ---- functions ---- */

static double
sphere(const struct bbob *b, const double *x)
{
    double z[D], sum = 0;

    shift(b, x, z);
    for (size_t i = 0; i < b->n; i++)
        sum += z[i] * z[i];
    return sum;
}

static double
rastrigin_separable(const struct bbob *b, const double *x)
{
    double z[D];

    shift(b, x, z);
    oscillate_all(b, z);
    skew(b, 0.2, z);
    stretch(b, 10, z);
    return rastrigin(b, z);
}

static double
slope(const struct bbob *b, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < b->n; i++) {
        double s = copysign(num_pow(10, part(b, i)), b->x[i]);
        double z = x[i] * b->x[i] < 25 ? x[i] : b->x[i];

        sum += 5 * fabs(s) - s * z;
    }
    return sum;
}

static double
step_ellipsoid(const struct bbob *b, const double *x)
{
    double z[D], first, sum = 0;

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    stretch(b, 10, z);
    first = fabs(z[0]) / 1e4;
    for (size_t i = 0; i < b->n; i++)
        z[i] =
            fabs(z[i]) > 0.5 ? floor(0.5 + z[i]) : floor(0.5 + 10 * z[i]) / 10;
    bbob_rotate(b->q, b->n, z);
    for (size_t i = 0; i < b->n; i++)
        sum += num_pow(10, 2 * part(b, i)) * z[i] * z[i];
    return 0.1 * (first > sum ? first : sum) + penalty(b, x);
}

/* Rosenbrock's, of the rotated x. */
static double
rosenbrock_term(const struct bbob *b, const double *x, size_t i)
{
    double z[2] = {0.5, 0.5}, bend;

    for (size_t k = 0; k < b->n; k++) {
        z[0] += b->factor * b->r[i][k] * x[k];
        z[1] += b->factor * b->r[i + 1][k] * x[k];
    }
    bend = z[0] * z[0] - z[1];
    return 100 * bend * bend + (z[0] - 1) * (z[0] - 1);
}

static double
rosenbrock(const struct bbob *b, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < b->n; i++)
        sum += rosenbrock_term(b, x, i);
    return sum;
}

static double
discus(const struct bbob *b, const double *x)
{
    double z[D], sum = 0;

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    oscillate_all(b, z);
    for (size_t i = 0; i < b->n; i++)
        sum += (i == 0 ? 1e6 : 1) * z[i] * z[i];
    return sum;
}

static double
sharp_ridge(const struct bbob *b, const double *x)
{
    double z[D], sum = 0;

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    stretch(b, 10, z);
    bbob_rotate(b->q, b->n, z);
    for (size_t i = 1; i < b->n; i++)
        sum += z[i] * z[i];
    return z[0] * z[0] + 100 * num_sqrt(sum);
}

static double
rastrigin_rotated(const struct bbob *b, const double *x)
{
    double z[D];

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    oscillate_all(b, z);
    skew(b, 0.2, z);
    bbob_rotate(b->q, b->n, z);
    stretch(b, 10, z);
    bbob_rotate(b->r, b->n, z);
    return rastrigin(b, z);
}

static double
schaffers(const struct bbob *b, const double *x)
{
    double z[D], sum = 0;

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    skew(b, 0.5, z);
    bbob_rotate(b->q, b->n, z);
    stretch(b, 10, z);
    for (size_t i = 0; i + 1 < b->n; i++) {
        double s = num_sqrt(z[i] * z[i] + z[i + 1] * z[i + 1]);
        double wave = sin(50 * num_pow(s, 0.2));

        sum += num_sqrt(s) * (1 + wave * wave);
    }
    sum /= (double)(b->n - 1);
    return sum * sum + 10 * penalty(b, x);
}

static double
griewank_rosenbrock(const struct bbob *b, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i + 1 < b->n; i++) {
        double s = rosenbrock_term(b, x, i);

        sum += s / 4000 - cos(s);
    }
    return 10 * sum / (double)(b->n - 1) + 10;
}

static double
gallagher(const struct bbob *b, const double *x)
{
    double z[D], best = 0, rest;

    memcpy(z, x, b->n * sizeof *z);
    bbob_rotate(b->r, b->n, z);
    for (size_t p = 0; p < PEAKS; p++) {
        double sum = 0, height;

        for (size_t i = 0; i < b->n; i++)
            sum += b->scale[p][i] * (z[i] - b->peak[p][i]) *
                   (z[i] - b->peak[p][i]);
        height = b->weight[p] * num_exp(-0.5 * sum / (double)b->n);
        best = height > best ? height : best;
    }
    rest = oscillate(10 - best);
    return rest * rest + penalty(b, x);
}

static double
katsuura(const struct bbob *b, const double *x)
{
    double z[D], product = 1, n = (double)b->n;

    shift(b, x, z);
    bbob_rotate(b->r, b->n, z);
    stretch(b, 100, z);
    bbob_rotate(b->q, b->n, z);
    for (size_t i = 0; i < b->n; i++) {
        double sum = 0;

        for (int k = 1; k <= 32; k++) {
            double t = ldexp(z[i], k);

            sum += ldexp(fabs(t - num_round_even(t)), -k);
        }
        product *= num_pow(1 + (double)(i + 1) * sum, 10 / num_pow(n, 1.2));
    }
    return 10 / (n * n) * (product - 1) + penalty(b, x);
}

static const struct {
    int number;
    double (*value)(const struct bbob *b, const double *x);
    void (*draw)(struct bbob *b, uint64_t seed); /* or NULL */
} functions[] = {
    {1, sphere, NULL},
    {3, rastrigin_separable, NULL},
    {5, slope, bbob_draw_corner},
    {7, step_ellipsoid, NULL},
    {9, rosenbrock, bbob_draw_rosenbrock},
    {11, discus, NULL},
    {13, sharp_ridge, NULL},
    {15, rastrigin_rotated, NULL},
    {17, schaffers, NULL},
    {19, griewank_rosenbrock, bbob_draw_rosenbrock},
    {21, gallagher, bbob_draw_peaks},
    {23, katsuura, NULL},
};

#define N_FUNCTIONS (sizeof functions / sizeof functions[0])

struct bbob *
bbob_new(int number, size_t n_dims, uint64_t instance)
{
    uint64_t seed = (uint64_t)number + 10000 * instance;
    struct bbob *b;
    size_t at = 0;

    while (at < N_FUNCTIONS && functions[at].number != number)
        at++;
    if (at == N_FUNCTIONS || n_dims < 2 || n_dims > D)
        return NULL;
    b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    b->n = n_dims;
    b->value = functions[at].value;
    bbob_draw(b, seed);
    if (functions[at].draw != NULL)
        functions[at].draw(b, seed);
    return b;
}

void
bbob_free(struct bbob *b)
{
    free(b);
}

double
bbob_value(const struct bbob *b, const double *x)
{
    return b->value(b, x) + b->best;
}

double
bbob_optimum(const struct bbob *b)
{
    return b->best;
}

const double *
bbob_optimal(const struct bbob *b)
{
    return b->x;
}
