/* SPDX-License-Identifier: MIT */
/* labels.h - results as a Gaussian process sees them.  Any thread, nothing
 * fails. */
#ifndef TUNERS_CMAES_LABELS_H
#define TUNERS_CMAES_LABELS_H

#include "elementary.h"

#include <stddef.h>

#define LABELS_BEND 3.0

/* How far one is from the best, the middle being at 1: far ones are drawn
 * nearer. */
static inline double
labels_bend(double far)
{
    return far < LABELS_BEND ? far
                             : LABELS_BEND * (1 + num_log(far / LABELS_BEND));
}

/* To mean 0 and variance 1. */
static inline void
labels_standardise(double *y, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += y[i];
    sum /= (double)n;
    for (size_t i = 0; i < n; i++) {
        y[i] -= sum;
        squares += y[i] * y[i];
    }
    squares = num_sqrt(squares / (double)n);
    for (size_t i = 0; i < n && squares > 0; i++)
        y[i] /= squares;
}

#endif
