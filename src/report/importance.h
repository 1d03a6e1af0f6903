/* SPDX-License-Identifier: MIT */
/* importance.h - which parameters decide how good a trial is: PED-ANOVA.
 *
 * S. Watanabe, A. Bansal, F. Hutter: PED-ANOVA: Efficiently Quantifying
 * Hyperparameter Importance in Arbitrary Subspaces.  IJCAI 2023.  With D all
 * trials, which are the subspace that was searched, and D' the best tenth of
 * them, the importance of parameter d is the Pearson divergence
 *
 *   v_d = E over x ~ p_d(D) [ (p_d(x | D') / p_d(x | D) - 1)^2 ]
 *
 * where both densities are kernel estimates in one dimension, on a grid with
 * Scott's bandwidth, or shares of categories, each with one trial's weight of a
 * uniform prior.  It looks at ranks alone, so that any order will do,
 * infinities too, and takes O(trials) a parameter.  One thread; deterministic.
 */
#ifndef REPORT_IMPORTANCE_H
#define REPORT_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* The best fraction, and how many trials that is at least. */
#define IMPORTANCE_GAMMA 0.1
#define IMPORTANCE_BEST_MIN 5
/* fewer trials tell nothing */
#define IMPORTANCE_TRIALS_MIN 10

struct importance_parameter {
    const double *cells; /* one for each trial, on the scale of its axis, or the
                            number of a category; NAN: that trial has none */
    size_t categories;   /* 0: it is a number */
};

/* v_d as a share of the sum over all parameters, 0 to 1; NAN: nothing can be
 * said. */
struct importance_score {
    double share;
};

/* rank[i]: the place of trial i, from 0 for the best, a permutation; of n
 * trials.  A parameter that only some of the trials have is judged among them,
 * and weighs as much as their share.  -1: out of memory. */
int importance_scores(const struct importance_parameter *parameters,
                      size_t n_parameters, const size_t *rank, size_t n,
                      struct importance_score *out);

#endif
