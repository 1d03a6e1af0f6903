/* SPDX-License-Identifier: MIT */
/* lm.h - the state of one minimisation, and the linear algebra of its steps;
 * for leastsquares.c, whose comment says where the names come from. */
#ifndef CURVEFITTING_LM_H
#define CURVEFITTING_LM_H

#include "curvefitting/leastsquares.h"

#define LM_N LEASTSQUARES_MAX

struct lm {
    leastsquares_fn *f;
    void *ctx;
    size_t n, m, evaluations;
    double *x;            /* n */
    double *fvec, *trial; /* m each */
    double *fjac;         /* m x n, by columns; then Q below, R above */
    double fnorm;
    size_t pivot[LM_N];
    double rdiag[LM_N], acnorm[LM_N]; /* of R; of the Jacobian's columns */
    double diag[LM_N], qtf[LM_N];
    double par, delta, xnorm, gnorm;
    double step[LM_N];
};

/* The Euclidean length, without overflow. */
double lm_norm(const double *v, size_t n);

/* The Jacobian in fjac becomes Q and R with column pivoting (MINPACK's
 * qrfac); its columns' lengths go to acnorm. */
void lm_factor(struct lm *s);

/* The first n elements of Q'fvec go to qtf, and R's diagonal into its place;
 * overwrites trial. */
void lm_apply_q(struct lm *s);

/* Sets par and step: the least-squares step whose scaled length is delta, to a
 * tenth, or the Gauss-Newton step where that is shorter (lmpar). */
void lm_par(struct lm *s);

/* Row i, column j of R. */
static inline double *
lm_r(const struct lm *s, size_t i, size_t j)
{
    return &s->fjac[j * s->m + i];
}

static inline double
lm_larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double
lm_smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
