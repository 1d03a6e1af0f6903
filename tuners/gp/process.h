/* SPDX-License-Identifier: MIT */
/* process.h - a Gaussian process over points of [0, 1]^n, what it expects
 * elsewhere, and in which direction that changes (C. E. Rasmussen, C. K. I.
 * Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2 and 5).
 *
 * The kernel is Matern 5/2 with a length scale for each group of columns; those
 * of a group are one category's, of which each element has a column.  A row is
 * added to the factor of the kernel matrix without touching what is there, and
 * the bits are those of a factor that is made anew.  One thread. */
#ifndef TUNERS_GP_PROCESS_H
#define TUNERS_GP_PROCESS_H

#include "lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_MOST 13.8 /* of theta, either sign: a factor of 10^6 */

struct process {
    size_t n_column, n_group;
    size_t *group; /* of each column */
    size_t n;      /* rows in the factor; the first n_told have a value */
    bool is_sharp; /* the noise does not follow */
    size_t n_told, room;
    double *x;     /* room * n_column */
    double *y;     /* room: of the first n_told, mean 0, variance 1 */
    double *root;  /* room * room, the factor's lower triangle */
    double *alpha; /* room: what the mean is a sum with */
    /* log: 1 / length scale^2 of each group, variance, noise; each with the
     * size of its last step and the sign of its last slope */
    double *theta, *step, *slope;
    double *weight; /* of each column, no logarithm, as the next */
    double variance, noise, *scratch;
    double *inverse;         /* room * room, as the next for the call alone */
    double *k, *dk, *solved; /* room lanes: of the points of a prediction */
    double *lanes;           /* n_column lanes */
};

/* `group` is taken.  -1: out of memory.  process_fini() in any case. */
int process_init(struct process *p, size_t n_column, size_t *group,
                 size_t n_group, size_t room);
void process_fini(struct process *p);

/* Length scales and noise as they are before there are results. */
void process_reset(struct process *p);

/* Takes rows of x up to n into the factor.  -1: the matrix has none; the
 * process then has fewer rows. */
int process_extend(struct process *p, size_t n);

/* The first n_told rows have the values of y. */
void process_learn(struct process *p, size_t n_told);

/* `steps` of the length scales to where the n_told rows, which are all there
 * are, are likelier; then the factor.  -1: as above. */
int process_fit(struct process *p, size_t steps);

/* The logarithm of the density of the values and of theta, but for a constant;
 * right after process_fit(). */
double process_posterior(const struct process *p);

/* Mean and variance at NUM_LANES points, c having n_column lanes. */
void process_predict(struct process *p, const double *c, double *mean,
                     double *variance);

/* g, n_number lanes: how the first columns of the points last predicted change
 * by_mean times the mean and by_variance times the variance, of each lane. */
void process_slopes(struct process *p, const double *c, size_t n_number,
                    const double *by_mean, const double *by_variance,
                    double *g);

/* What the process expects at a row that has a value. */
double process_fitted(const struct process *p, size_t row);

#endif
