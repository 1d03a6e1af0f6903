/* SPDX-License-Identifier: MIT */
#include "cmaes/gauss.h"

#include "elementary.h"
#include "linear.h"

#include <stdlib.h>
#include <string.h>

struct rates {
    double mu_eff, c_s, d_s, c_c, c_1, c_mu, chi_n;
};

int
cmaes_gauss_init(struct cmaes_gauss *g, size_t n)
{
    size_t cells = n <= CMAES_FULL_MAX ? n * n : n;

    memset(g, 0, sizeof *g);
    g->n = n;
    g->is_full = n <= CMAES_FULL_MAX;
    g->mean = calloc(n + 1, sizeof *g->mean);
    g->path_s = calloc(n + 1, sizeof *g->path_s);
    g->path_c = calloc(n + 1, sizeof *g->path_c);
    g->scratch = calloc(2 * n + 1, sizeof *g->scratch);
    g->cov = calloc(cells + 1, sizeof *g->cov);
    g->root = calloc(cells + 1, sizeof *g->root);
    if (g->mean == NULL || g->path_s == NULL || g->path_c == NULL ||
        g->scratch == NULL || g->cov == NULL || g->root == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        g->mean[i] = 0.5;
    cmaes_gauss_reset(g, 1);
    return 0;
}

void
cmaes_gauss_fini(struct cmaes_gauss *g)
{
    free(g->mean);
    free(g->path_s);
    free(g->path_c);
    free(g->scratch);
    free(g->cov);
    free(g->root);
}

/* Where the (i, i) of cov and root lies. */
static size_t
diagonal(const struct cmaes_gauss *g, size_t i)
{
    return g->is_full ? i * g->n + i : i;
}

void
cmaes_gauss_reset(struct cmaes_gauss *g, double sigma)
{
    size_t cells = g->is_full ? g->n * g->n : g->n;

    g->sigma = sigma;
    g->steps = 0;
    memset(g->cov, 0, cells * sizeof *g->cov);
    memset(g->root, 0, cells * sizeof *g->root);
    for (size_t i = 0; i < g->n; i++) {
        g->path_s[i] = g->path_c[i] = 0;
        g->cov[diagonal(g, i)] = g->root[diagonal(g, i)] = 1;
    }
}

void
cmaes_gauss_colour(const struct cmaes_gauss *g, const double *z, double *y)
{
    for (size_t i = 0; i < g->n; i++) {
        const double *row = g->root + i * g->n;
        double sum = 0;

        if (!g->is_full) {
            y[i] = g->root[i] * z[i];
            continue;
        }
        for (size_t k = 0; k <= i; k++)
            sum += row[k] * z[k];
        y[i] = sum;
    }
}

void
cmaes_gauss_whiten(const struct cmaes_gauss *g, const double *y, double *z)
{
    for (size_t i = 0; i < g->n; i++) {
        const double *row = g->root + i * g->n;
        double sum = y[i];

        if (!g->is_full) {
            z[i] = y[i] / g->root[i];
            continue;
        }
        for (size_t k = 0; k < i; k++)
            sum -= row[k] * z[k];
        z[i] = sum / row[i];
    }
}

double
cmaes_gauss_deviation(const struct cmaes_gauss *g, size_t i)
{
    return num_sqrt(g->cov[diagonal(g, i)]) * g->sigma;
}

void
cmaes_gauss_scale(struct cmaes_gauss *g, double factor)
{
    size_t cells = g->is_full ? g->n * g->n : g->n;

    g->sigma *= factor;
    for (size_t i = 0; i < cells; i++) {
        g->cov[i] /= factor * factor;
        g->root[i] /= factor;
    }
}

int
cmaes_gauss_factor(struct cmaes_gauss *g)
{
    if (g->is_full) {
        memcpy(g->root, g->cov, g->n * g->n * sizeof *g->root);
        return num_cholesky(g->root, g->n);
    }
    for (size_t i = 0; i < g->n; i++) {
        if (!(g->cov[i] > 0))
            return -1;
        g->root[i] = num_sqrt(g->cov[i]);
    }
    return 0;
}

static struct rates
rates(const struct cmaes_gauss *g, const double *w, size_t n_points)
{
    double n = (double)g->n, sum = 0, squares = 0, wide = 1, m;
    struct rates r;

    for (size_t i = 0; i < n_points; i++)
        if (w[i] > 0) {
            sum += w[i];
            squares += w[i] * w[i];
        }
    r.mu_eff = m = sum * sum / squares;
    r.c_s = (m + 2) / (n + m + 5);
    r.d_s = num_sqrt((m - 1) / (n + 1)) - 1;
    r.d_s = 1 + 2 * (r.d_s > 0 ? r.d_s : 0) + r.c_s;
    r.c_c = (4 + m / n) / (n + 4 + 2 * m / n);
    if (!g->is_full)
        wide = (n + 2) / 3;
    r.c_1 = wide * 2 / ((n + 1.3) * (n + 1.3) + m);
    r.c_mu = wide * 2 * (m - 2 + 1 / m + 0.25) / ((n + 2) * (n + 2) + m);
    if (r.c_1 > 0.5)
        r.c_1 = 0.5;
    if (r.c_mu > 1 - r.c_1)
        r.c_mu = 1 - r.c_1;
    r.chi_n = num_sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
    return r;
}

/* Both paths; returns whether the covariance's stands still. */
static bool
walk_paths(struct cmaes_gauss *g, const struct rates *r, const double *mean_y)
{
    double *z = g->scratch + g->n;
    double s = num_sqrt(r->c_s * (2 - r->c_s) * r->mu_eff);
    double c = num_sqrt(r->c_c * (2 - r->c_c) * r->mu_eff);
    double unbiased, decay = 1 - r->c_s, power = 1, length;
    bool stalled;

    cmaes_gauss_whiten(g, mean_y, z);
    for (size_t i = 0; i < g->n; i++)
        g->path_s[i] = decay * g->path_s[i] + s * z[i];
    for (uint64_t i = 0; i < 2 * (g->steps + 1) && power > 1e-20; i++)
        power *= decay;
    unbiased = num_sqrt(1 - power);
    length = num_sqrt(num_dot(g->path_s, g->path_s, g->n));
    stalled = length / unbiased >= (1.4 + 2 / ((double)g->n + 1)) * r->chi_n;
    for (size_t i = 0; i < g->n; i++)
        g->path_c[i] =
            (1 - r->c_c) * g->path_c[i] + (stalled ? 0 : c * mean_y[i]);
    length = (r->c_s / r->d_s) * (length / r->chi_n - 1);
    g->sigma *= num_exp(length < 1 ? length : 1);
    return stalled;
}

/* cov += weight * v v^T, the lower triangle. */
static void
add_outer(struct cmaes_gauss *g, const double *v, double weight)
{
    for (size_t i = 0; i < g->n; i++) {
        double *row = g->cov + i * g->n, f = weight * v[i];

        if (!g->is_full) {
            g->cov[i] += f * v[i];
            continue;
        }
        for (size_t k = 0; k <= i; k++)
            row[k] += f * v[k];
    }
}

static void
turn(struct cmaes_gauss *g, const struct rates *r, const double *y,
     const double *w, size_t n_points, bool stalled)
{
    double *z = g->scratch + g->n, sum = 0, keep;
    size_t cells = g->is_full ? g->n * g->n : g->n;

    for (size_t i = 0; i < n_points; i++)
        sum += w[i];
    keep = 1 - r->c_1 - r->c_mu * sum;
    if (stalled)
        keep += r->c_1 * r->c_c * (2 - r->c_c);
    for (size_t i = 0; i < cells; i++)
        g->cov[i] *= keep;
    add_outer(g, g->path_c, r->c_1);
    for (size_t i = 0; i < n_points; i++) {
        const double *v = y + i * g->n;
        double f = w[i] * r->c_mu;

        if (w[i] < 0) {
            cmaes_gauss_whiten(g, v, z);
            f *= (double)g->n / (num_dot(z, z, g->n) + 1e-12);
        }
        if (f != 0)
            add_outer(g, v, f);
    }
}

void
cmaes_gauss_update(struct cmaes_gauss *g, const double *y, const double *w,
                   size_t n_points, const double *shift)
{
    struct rates r = rates(g, w, n_points);
    double *mean_y = g->scratch;
    bool stalled;

    if (g->n == 0)
        return;
    for (size_t i = 0; i < g->n; i++) {
        mean_y[i] = 0;
        for (size_t k = 0; k < n_points; k++)
            if (w[k] > 0)
                mean_y[i] += w[k] * y[k * g->n + i];
        g->mean[i] += shift[i];
    }
    stalled = walk_paths(g, &r, mean_y);
    turn(g, &r, y, w, n_points, stalled);
    g->steps++;
    if (cmaes_gauss_factor(g) != 0)
        cmaes_gauss_reset(g, g->sigma);
}

void
cmaes_gauss_weights(size_t n, size_t n_points, double *w)
{
    double plus = 0, minus = 0, squares = 0, minus_squares = 0, most, m, d;
    double half = num_log(((double)n_points + 1) / 2), c_1, c_mu, alpha;

    for (size_t i = 0; i < n_points; i++) {
        w[i] = half - num_log((double)i + 1);
        if (w[i] > 0) {
            plus += w[i];
            squares += w[i] * w[i];
        } else {
            minus -= w[i];
            minus_squares += w[i] * w[i];
        }
    }
    d = n > 0 ? (double)n : 1;
    m = plus * plus / squares;
    c_1 = 2 / ((d + 1.3) * (d + 1.3) + m);
    c_mu = 2 * (m - 2 + 1 / m + 0.25) / ((d + 2) * (d + 2) + m);
    if (c_mu > 1 - c_1)
        c_mu = 1 - c_1;
    alpha = 1 + c_1 / c_mu;
    most = minus * minus / (minus_squares + 1e-300);
    if (alpha > 1 + 2 * most / (m + 2))
        alpha = 1 + 2 * most / (m + 2);
    if (alpha > (1 - c_1 - c_mu) / (d * c_mu))
        alpha = (1 - c_1 - c_mu) / (d * c_mu);
    for (size_t i = 0; i < n_points; i++)
        w[i] = w[i] > 0 ? w[i] / plus : alpha * w[i] / minus;
}
