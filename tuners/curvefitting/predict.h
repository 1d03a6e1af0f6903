/* SPDX-License-Identifier: MIT */
/* predict.h - where a learning curve will be: curves are fitted, those that
 * agree are weighted by a short Markov chain, and their weighted sum is read
 * off (Domhan et al., IJCAI 2015, section 3, as NNI simplifies it).
 *
 * With y[0..n-1] at x = 1..n, steps and constants as NNI has them:
 *
 * 1. Each of the twelve curves is fitted (curves.h).
 * 2. Those whose squared errors sum up to less than n mean(y)^2 stay.
 * 3. Of these, those agree whose value at `target` lies strictly within
 *    median +- n / 10 standard deviations of their values at n.
 * 4. Fewer than four: no prediction.
 * 5. Ten chains of weights begin with equal ones.  20 times each weight is
 *    moved by 0.0005 times a normal number, the sum being kept 1, and the move
 *    taken with probability min(1, posterior ratio).  The prior is 0 when a
 *    weight is not positive or the sum of curves does not rise from 1 to
 *    target, else 1; the likelihood is that of normal errors of the variance
 *    found (its fourth root in the denominator).
 * 6. The prediction is the mean, over the chains, of the sum of curves at
 *    target.
 *
 * Knows no plugin interface; any thread. */
#ifndef CURVEFITTING_PREDICT_H
#define CURVEFITTING_PREDICT_H

#include "curvefitting/curves.h"

#include <stdint.h>

/* Uniform numbers in [0, 1): the same for the same b and draw. */
struct predict_random {
    double (*uniform)(void *ctx, uint32_t b, uint32_t draw);
    void *ctx;
};

struct prediction {
    size_t n_fitted, n_agreed;
    size_t agreed[N_CURVES];    /* which of curves[] */
    double at_target[N_CURVES]; /* of those that agreed */
    double value;               /* NaN when fewer than four agreed */
};

/* n >= 1, target >= 1, all y finite.  -1 when out of memory. */
int predict(const double *y, size_t n, double target,
            const struct predict_random *random, struct prediction *out);

#endif
