/* SPDX-License-Identifier: MIT */
/* curves.h - the twelve families of learning curves of Domhan, Springenberg,
 * Hutter, "Speeding up Automatic Hyperparameter Optimization of Deep Neural
 * Networks by Extrapolation of Learning Curves", IJCAI 2015, table 1, with the
 * parameters that NNI starts from where a fit fails.  Any thread. */
#ifndef CURVEFITTING_CURVES_H
#define CURVEFITTING_CURVES_H

#include <stddef.h>

#define N_CURVES 12
#define CURVE_PARAMS_MAX 4

/* Places x > 0 and their natural logarithms. */
struct curve_places {
    const double *x, *ln_x;
    size_t n;
};

struct curve {
    const char *name;
    size_t n_params;
    double params[CURVE_PARAMS_MAX]; /* where a fit fails */
    /* Its values at n places; as arrays, because a fit asks for thousands. */
    void (*at)(const struct curve_places *places, const double *p, double *out);
};

extern const struct curve curves[N_CURVES];

/* Of curve k at one place. */
double curve_value(size_t k, double x, const double *p);

/* Fits curve k to y[0..places->n-1] by least squares, from all parameters 1,
 * as NNI does.  0: p has the fit; -1: p has curves[k].params.  `work` has room
 * for n * (CURVE_PARAMS_MAX + 2) doubles. */
int curve_fit(size_t k, const struct curve_places *places, const double *y,
              double *p, double *work);

#endif
