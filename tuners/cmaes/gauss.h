/* SPDX-License-Identifier: MIT */
/* gauss.h - the normal distribution of CMA-ES: mean, step and covariance, and
 * how a ranked population changes them (Hansen 2016, figure 6).
 *
 * The covariance is held with its Cholesky factor instead of its eigenvectors
 * (O. Krause, D. R. Arbones, C. Igel, "CMA-ES with Optimal Covariance Update
 * and Storage Complexity", NIPS 2016); above CMAES_FULL_MAX dimensions its
 * diagonal alone is (Ros and Hansen 2008).  One thread. */
#ifndef TUNERS_CMAES_GAUSS_H
#define TUNERS_CMAES_GAUSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMAES_FULL_MAX 200

struct cmaes_gauss {
    size_t n;
    bool is_full;
    double sigma;
    uint64_t steps;          /* since the reset */
    double *mean;            /* n, all of these */
    double *path_s, *path_c; /* of the step; of the covariance */
    double *cov, *root;      /* n * n, lower triangle; or n */
    double *scratch;         /* 2 n */
};

/* -1: out of memory.  cmaes_gauss_fini() is called in any case. */
int cmaes_gauss_init(struct cmaes_gauss *g, size_t n);
void cmaes_gauss_fini(struct cmaes_gauss *g);

/* A round distribution with that step; the mean stays. */
void cmaes_gauss_reset(struct cmaes_gauss *g, double sigma);

/* y = root z */
void cmaes_gauss_colour(const struct cmaes_gauss *g, const double *z,
                        double *y);

/* z = root^-1 y; the two may be the same. */
void cmaes_gauss_whiten(const struct cmaes_gauss *g, const double *y,
                        double *z);

/* sqrt(cov[i][i]) * sigma */
double cmaes_gauss_deviation(const struct cmaes_gauss *g, size_t i);

/* Moves a factor from the covariance to sigma: the distribution stays. */
void cmaes_gauss_scale(struct cmaes_gauss *g, double factor);

/* The covariance's factor anew.  -1: it is none any more. */
int cmaes_gauss_factor(struct cmaes_gauss *g);

/* y: n_points rows of n, steps from the mean in units of sigma, best first; w:
 * their weights, whose positive ones sum up to 1; shift: what the mean moves
 * by. */
void cmaes_gauss_update(struct cmaes_gauss *g, const double *y, const double *w,
                        size_t n_points, const double *shift);

/* Weights for that many ranked points: logarithmic, the worse half negative as
 * far as the covariance stays one (Hansen 2016, equations 49 to 53). */
void cmaes_gauss_weights(size_t n, size_t n_points, double *w);

#endif
