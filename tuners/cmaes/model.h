/* SPDX-License-Identifier: MIT */
/* model.h - a guess at results before a trial is run: a Gaussian process with
 * a Matern 5/2 kernel whose length scales follow the results by a few steps of
 * gradient ascent each time (C. E. Rasmussen, C. K. I. Williams, "Gaussian
 * Processes for Machine Learning", 2006, chapters 2 and 5; C. Igel, M. Huesken,
 * "Improving the Rprop Learning Algorithm", 2000).
 *
 * A row of features: numbers, then elements, both NaN where inactive.  One
 * thread. */
#ifndef TUNERS_CMAES_MODEL_H
#define TUNERS_CMAES_MODEL_H

#include <stddef.h>
#include <stdint.h>

struct cmaes_model {
    size_t n_number, n_feature; /* elements: the rest of the features */
    size_t n, room;             /* rows; the first n_fit were measured */
    size_t n_fit;
    size_t n_failed; /* the last rows */
    double *x;       /* room * n_feature */
    double *y;       /* room: standardised */
    double *root;    /* room * room: the kernel matrix's factor */
    double *alpha;   /* room: what the mean is a sum with */
    double *work;    /* room * room + room + n_feature + 2 */
    /* log: 1 / length scale^2 of each feature, variance, noise; each with the
     * size of its last step and the sign of its last slope */
    double *log_theta, *step, *slope;
    double *weight, variance, noise; /* not logarithms */
};

/* -1: out of memory.  cmaes_model_fini() is called in any case. */
int cmaes_model_init(struct cmaes_model *m, size_t n_number, size_t n_feature,
                     size_t room);
void cmaes_model_fini(struct cmaes_model *m);

/* After x, y and n were set: `steps` of the length scales, then the factor.
 * -1: the matrix has none, the model says nothing. */
int cmaes_model_fit(struct cmaes_model *m, size_t steps);

/* Takes the rows of x behind those of the fit as what is out, with results as
 * they are expected, and behind these n_failed rows of failures: an accident
 * where others succeed, as bad as the worst where most fail.  -1: as above. */
int cmaes_model_believe(struct cmaes_model *m, size_t n_out, size_t n_failed);

/* Logarithm of how much the result at x is expected to be below `best`. */
double cmaes_model_gain(struct cmaes_model *m, const double *x, double best);

#endif
