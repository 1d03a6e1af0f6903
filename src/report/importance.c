/* SPDX-License-Identifier: MIT */
#include "report/importance.h"

#include "numerics/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID 50   /* points of the axis at which densities are taken */
#define REACH 4.0 /* how far a kernel reaches, in bandwidths to either side */
#define PRIOR 1.0 /* how many trials the uniform prior weighs */
#define SQUARED_MAX (REACH * REACH)

struct density {
    double at[GRID];
};

/* The trials that have the parameter, the best first. */
struct sample {
    const double *values; /* n of them, 0 to 1, or numbers of categories */
    size_t n, best;       /* the first `best` are the best */
};

static size_t
best_of(size_t n)
{
    size_t best = (size_t)num_round_even(IMPORTANCE_GAMMA * (double)n);

    return best > IMPORTANCE_BEST_MIN ? best : IMPORTANCE_BEST_MIN;
}

/* ---- numbers ---- */

static double
bandwidth(const double *x, size_t n)
{
    double mean = 0, square = 0, width;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    /* Scott: 1.059 sigma n^(-1/5); never narrower than the grid. */
    width = 1.059 * num_sqrt(square) * num_pow((double)n, -0.2);
    return width > 1.0 / (GRID - 1) ? width : 1.0 / (GRID - 1);
}

/* Adds the kernel of a value, whose mass on the grid is 1: none lies
 * outside. */
static void
add_kernel(struct density *d, double x, double width, double weight)
{
    double kernel[GRID] = {0}, sum = 0;

    for (size_t g = 0; g < GRID; g++) {
        double z = ((double)g / (GRID - 1) - x) / width;

        if (z * z < SQUARED_MAX)
            kernel[g] = num_exp(-0.5 * z * z);
        sum += kernel[g];
    }
    for (size_t g = 0; g < GRID; g++)
        d->at[g] += weight * kernel[g] / sum;
}

/* Estimates a density with as many kernels as there are places on the axis:
 * values are counted where they lie, between two grid points. */
static void
estimate(const double *x, size_t n, struct density *d)
{
    double counts[GRID] = {0}, width = bandwidth(x, n);

    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < n; i++) {
        double place = x[i] * (GRID - 1);
        size_t low = (size_t)place < GRID - 2 ? (size_t)place : GRID - 2;

        counts[low + 1] += place - (double)low;
        counts[low] += 1 - (place - (double)low);
    }
    for (size_t g = 0; g < GRID; g++)
        if (counts[g] > 0)
            add_kernel(d, (double)g / (GRID - 1), width, counts[g]);
    for (size_t g = 0; g < GRID; g++)
        d->at[g] = (d->at[g] + PRIOR / GRID) / ((double)n + PRIOR);
}

static double
divergence(const double *best, const double *all, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (all[i] > 0) {
            double r = best[i] / all[i] - 1;

            sum += all[i] * r * r;
        }
    return sum;
}

static double
score_number(const struct sample *s)
{
    struct density best, all;

    estimate(s->values, s->best, &best);
    estimate(s->values, s->n, &all);
    return divergence(best.at, all.at, GRID);
}

/* ---- categories ---- */

static void
shares(const double *values, size_t n, double *out, size_t categories)
{
    double k = (double)categories;

    for (size_t c = 0; c < categories; c++)
        out[c] = PRIOR / k / ((double)n + PRIOR);
    for (size_t i = 0; i < n; i++)
        out[(size_t)values[i]] += 1 / ((double)n + PRIOR);
}

static double
score_category(const struct sample *s, size_t categories)
{
    double *all = calloc(2 * categories, sizeof *all), score;

    if (all == NULL)
        return -1;
    shares(s->values, s->n, all, categories);
    shares(s->values, s->best, all + categories, categories);
    score = divergence(all + categories, all, categories);
    free(all);
    return score;
}

/* ---- one parameter ---- */

/* Collects the parameter's values from the best trial's to the worst one's;
 * returns how many. */
static size_t
collect_values(const struct importance_parameter *p, const size_t *order,
               size_t n, double *out)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(p->cells[order[i]]))
            out[m++] = p->cells[order[i]];
    return m;
}

/* Maps the values onto 0 to 1; false: they are all the same, or not finite. */
static bool
normalise(double *x, size_t n)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    if (!(high - low > 0) || isinf(high - low))
        return false;
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - low) / (high - low);
    return true;
}

/* v_d of a parameter; 0 where it cannot be told; below 0: out of memory. */
static double
parameter_divergence(const struct importance_parameter *p, const size_t *order,
                     size_t n, double *values)
{
    struct sample s = {.values = values,
                       .n = collect_values(p, order, n, values)};
    double v;

    s.best = best_of(s.n);
    if (s.n < IMPORTANCE_TRIALS_MIN)
        return 0;
    if (p->categories > 0)
        v = score_category(&s, p->categories);
    else
        v = normalise(values, s.n) ? score_number(&s) : 0;
    return v * (double)s.n / (double)n;
}

static void
share_out(struct importance_score *out, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += out[i].share;
    for (size_t i = 0; i < n; i++)
        out[i].share = sum > 0 ? out[i].share / sum : (double)NAN;
}

int
importance_scores(const struct importance_parameter *parameters,
                  size_t n_parameters, const size_t *rank, size_t n,
                  struct importance_score *out)
{
    size_t *order = calloc(n + 1, sizeof *order);
    double *values = calloc(n + 1, sizeof *values);
    int rc = order == NULL || values == NULL ? -1 : 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        order[rank[i]] = i;
    for (size_t i = 0; rc == 0 && i < n_parameters; i++) {
        out[i].share =
            n < IMPORTANCE_TRIALS_MIN
                ? 0
                : parameter_divergence(&parameters[i], order, n, values);
        rc = out[i].share < 0 ? -1 : 0;
    }
    if (rc == 0)
        share_out(out, n_parameters);
    free(order);
    free(values);
    return rc;
}
