/* SPDX-License-Identifier: MIT */
#include "gp/process.h"

#include "elementary.h"
#include "linear.h"
#include "matern.h"

#include <stdlib.h>
#include <string.h>

#define NOISE_MIN 1e-8
#define NOISE_FIRST 1e-3
#define PRIOR_WEIGHT 0.1
#define STEP_FIRST 0.3
#define STEP_MOST 0.3
#define STEP_LEAST 0.01
#define VARIANCE_MOST 4.6 /* 10^2, and its reciprocal */

int
process_init(struct process *p, size_t n_column, size_t *group, size_t n_group,
             size_t room)
{
    size_t n_theta = n_group + 2;

    memset(p, 0, sizeof *p);
    p->n_column = n_column;
    p->n_group = n_group;
    p->group = group;
    p->room = room;
    p->x = calloc(room * n_column + 1, sizeof *p->x);
    p->y = calloc(2 * room, sizeof *p->y);
    /* Of both only what was written is read: to clear them, megabytes each,
     * would be most of what a new tuner costs. */
    p->root = malloc(room * room * sizeof *p->root);
    p->inverse = malloc(room * room * sizeof *p->inverse);
    p->theta = calloc(4 * n_theta + 2 * n_column, sizeof *p->theta);
    p->k = calloc((3 * room + n_column + 1) * NUM_LANES, sizeof *p->k);
    if (p->x == NULL || p->y == NULL || p->root == NULL || p->inverse == NULL ||
        p->theta == NULL || p->k == NULL)
        return -1;
    p->alpha = p->y + room;
    p->step = p->theta + n_theta;
    p->slope = p->step + n_theta;
    p->weight = p->slope + n_theta;
    p->scratch = p->weight + n_column;
    p->dk = p->k + room * NUM_LANES;
    p->solved = p->dk + room * NUM_LANES;
    p->lanes = p->solved + room * NUM_LANES;
    process_reset(p);
    return 0;
}

void
process_fini(struct process *p)
{
    free(p->group);
    free(p->x);
    free(p->y);
    free(p->root);
    free(p->inverse);
    free(p->theta);
    free(p->k);
}

void
process_reset(struct process *p)
{
    size_t n_theta = p->n_group + 2;

    for (size_t i = 0; i < n_theta; i++) {
        p->theta[i] = 0;
        p->step[i] = STEP_FIRST;
        p->slope[i] = 0;
    }
    p->theta[n_theta - 1] = num_log(NOISE_FIRST);
    p->n = p->n_told = 0;
}

/* The parameters themselves, from their logarithms. */
static void
exponentiate(struct process *p)
{
    for (size_t i = 0; i < p->n_column; i++)
        p->weight[i] = num_exp(p->theta[p->group[i]]);
    p->variance = num_exp(p->theta[p->n_group]);
    p->noise = num_exp(p->theta[p->n_group + 1]) + NOISE_MIN;
}

/* Rows first to first + NUM_LANES - 1 side by side; beyond `n` the last one. */
static const double *
side_by_side(const struct process *p, size_t first, size_t n)
{
    for (size_t k = 0; k < NUM_LANES; k++) {
        size_t row = first + k < n ? first + k : n - 1;

        for (size_t i = 0; i < p->n_column; i++)
            p->lanes[i * NUM_LANES + k] = p->x[row * p->n_column + i];
    }
    return p->lanes;
}

/* Kernels, but for the variance, of the first n rows with the points c, and
 * their slopes by the squared distance. */
static void
kernels(const struct process *p, size_t n, const double *c)
{
    for (size_t i = 0; i < n; i++)
        num_lanes_distance(p->x + i * p->n_column, p->weight, c, p->n_column,
                           p->k + i * NUM_LANES);
    num_matern52_n(p->k, p->k, p->dk, n * NUM_LANES);
}

int
process_extend(struct process *p, size_t n)
{
    if (p->n == 0)
        exponentiate(p);
    while (p->n < n) {
        size_t first = p->n,
               last = n - first > NUM_LANES ? first + NUM_LANES : n;

        kernels(p, last, side_by_side(p, first, n));
        for (size_t i = first; i < last; i++) {
            double *row = p->root + i * p->room;

            for (size_t k = 0; k < i; k++)
                row[k] = p->variance * p->k[k * NUM_LANES + i - first];
            row[i] = p->variance + p->noise;
            if (num_cholesky_row(p->root, p->room, i) != 0)
                return -1;
            p->n = i + 1;
        }
    }
    return 0;
}

void
process_learn(struct process *p, size_t n_told)
{
    p->n_told = n_told;
    memset(p->solved, 0, n_told * NUM_LANES * sizeof *p->solved);
    for (size_t i = 0; i < n_told; i++)
        p->solved[i * NUM_LANES] = p->y[i];
    num_lanes_lower_solve(p->root, p->room, n_told, p->solved);
    num_lanes_upper_solve(p->root, p->room, n_told, p->solved);
    for (size_t i = 0; i < p->room; i++)
        p->alpha[i] = i < n_told ? p->solved[i * NUM_LANES] : 0;
}

double
process_fitted(const struct process *p, size_t row)
{
    return p->y[row] - p->noise * p->alpha[row];
}

/* The priors are those of Optuna's GPSampler: the logarithm of the density is
 * -0.1 (l^2 + 1 / l^2) for a length scale l; of the variance Gamma(2, 1), of
 * the noise Gamma(1.1, 30). */
double
process_posterior(const struct process *p)
{
    size_t d = p->n_group;
    double sum =
        p->theta[d] - p->variance + 0.1 * p->theta[d + 1] - 30 * p->noise;

    for (size_t i = 0; i < d; i++)
        sum -= PRIOR_WEIGHT * (num_exp(-p->theta[i]) + num_exp(p->theta[i]));
    for (size_t i = 0; i < p->n_told; i++)
        sum -=
            0.5 * p->y[i] * p->alpha[i] + num_log(p->root[i * (p->room + 1)]);
    return sum;
}

/* Half the slopes of the likelihood by the logarithms of the kernel's
 * parameters, of pairs of rows of which one is among the lanes from `first`
 * on; by_column is set up by the caller. */
static void
add_slopes(const struct process *p, size_t first, double *out,
           double *by_column)
{
    size_t last = first + NUM_LANES < p->n ? first + NUM_LANES : p->n;
    const double *c = side_by_side(p, first, p->n);

    kernels(p, last, c);
    for (size_t i = 0; i < last; i++) {
        const double *inverse = p->inverse + i * p->room;
        double *k = p->k + i * NUM_LANES, *dk = p->dk + i * NUM_LANES;

        for (size_t j = 0; j < NUM_LANES; j++) {
            size_t other = first + j;
            double both = 0;

            if (other > i && other < last)
                both = (p->alpha[i] * p->alpha[other] - inverse[other]) *
                       p->variance;
            out[p->n_group] += both * k[j];
            dk[j] *= both;
        }
        num_lanes_spread(p->x + i * p->n_column, c, dk, p->n_column, by_column);
    }
}

/* Slopes of the posterior by theta; by_column: scratch. */
static void
slopes(struct process *p, double *out, double *by_column)
{
    size_t d = p->n_group;

    num_cholesky_inverse(p->root, p->room, p->n, p->inverse);
    memset(out, 0, (d + 2) * sizeof *out);
    memset(by_column, 0, p->n_column * sizeof *by_column);
    for (size_t i = 0; i < p->n; i++) {
        double own = p->alpha[i] * p->alpha[i] - p->inverse[i * p->room + i];

        out[d] += 0.5 * own * p->variance;
        out[d + 1] += 0.5 * own * p->noise;
    }
    for (size_t first = 0; first < p->n; first += NUM_LANES)
        add_slopes(p, first, out, by_column);
    for (size_t i = 0; i < p->n_column; i++)
        out[p->group[i]] += p->weight[i] * by_column[i];
    for (size_t i = 0; i < d; i++)
        out[i] += PRIOR_WEIGHT * (num_exp(-p->theta[i]) - num_exp(p->theta[i]));
    out[d] += 1 - p->variance;
    out[d + 1] += 0.1 - 30 * p->noise;
}

/* Rprop (C. Igel, M. Huesken, "Improving the Rprop Learning Algorithm", 2000).
 */
static void
climb(struct process *p, const double *slope)
{
    for (size_t i = 0; i < p->n_group + !p->is_sharp + 1; i++) {
        double agree = slope[i] * p->slope[i], s = slope[i];
        double most = i == p->n_group ? VARIANCE_MOST : PROCESS_MOST;

        if (agree > 0)
            p->step[i] =
                p->step[i] * 1.2 < STEP_MOST ? p->step[i] * 1.2 : STEP_MOST;
        if (agree < 0) {
            p->step[i] =
                p->step[i] * 0.5 > STEP_LEAST ? p->step[i] * 0.5 : STEP_LEAST;
            s = 0;
        }
        p->theta[i] += s > 0 ? p->step[i] : s < 0 ? -p->step[i] : 0;
        if (p->theta[i] > most)
            p->theta[i] = most;
        if (p->theta[i] < -most)
            p->theta[i] = -most;
        p->slope[i] = s;
    }
}

int
process_fit(struct process *p, size_t steps)
{
    size_t n = p->n_told;
    double *slope = p->scratch, *by_column = slope + p->n_group + 2;

    for (size_t i = 0; i < steps; i++) {
        p->n = 0;
        if (process_extend(p, n) != 0)
            return -1;
        process_learn(p, n);
        slopes(p, slope, by_column);
        climb(p, slope);
    }
    p->n = 0;
    if (process_extend(p, n) != 0)
        return -1;
    process_learn(p, n);
    return 0;
}

void
process_predict(struct process *p, const double *c, double *mean,
                double *variance)
{
    size_t cells = p->n * NUM_LANES;

    kernels(p, p->n, c);
    for (size_t i = 0; i < cells; i++) {
        p->k[i] *= p->variance;
        p->dk[i] *= p->variance;
    }
    memset(mean, 0, NUM_LANES * sizeof *mean);
    memset(variance, 0, NUM_LANES * sizeof *variance);
    num_lanes_dot(p->alpha, p->k, p->n_told, mean);
    memcpy(p->solved, p->k, cells * sizeof *p->k);
    num_lanes_lower_solve(p->root, p->room, p->n, p->solved);
    num_lanes_square(p->solved, p->n, variance);
    for (size_t k = 0; k < NUM_LANES; k++) {
        variance[k] = p->variance - variance[k];
        if (!(variance[k] > 1e-12))
            variance[k] = 1e-12;
    }
}

void
process_slopes(struct process *p, const double *c, size_t n_number,
               const double *by_mean, const double *by_variance, double *g)
{
    double factor[NUM_LANES];

    memset(g, 0, n_number * NUM_LANES * sizeof *g);
    num_lanes_upper_solve(p->root, p->room, p->n, p->solved);
    for (size_t i = 0; i < p->n; i++) {
        const double *dk = p->dk + i * NUM_LANES;
        const double *v = p->solved + i * NUM_LANES;

        for (size_t k = 0; k < NUM_LANES; k++)
            factor[k] =
                dk[k] * (by_mean[k] * p->alpha[i] - 2 * by_variance[k] * v[k]);
        num_lanes_pull(p->x + i * p->n_column, c, factor, n_number, g);
    }
    for (size_t i = 0; i < n_number * NUM_LANES; i++)
        g[i] *= 2 * p->weight[i / NUM_LANES];
}
