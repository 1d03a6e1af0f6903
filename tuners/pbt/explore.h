/* SPDX-License-Identifier: MIT */
/* explore.h - a point near another one, as NNI's PBTTuner perturbs: after
 * Jaderberg et al., "Population Based Training of Neural Networks",
 * arXiv:1711.09846v2, section 3.1 ("perturb" and "resample").
 *
 * Each active dimension is drawn anew with probability `resample`; otherwise it
 * goes up or down, each as likely, and stays within its range:
 *
 *   choice, randint          to the next index
 *   uniform                  by factor * (high - low)
 *   loguniform               by the same of the logarithms
 *   normal, lognormal        by factor * sigma (lognormal: of the logarithm)
 *   all with a q             to the next multiple of q
 *
 * What hangs on a choice that has changed, and was not there before, is drawn
 * anew.
 *
 * Points are internal coordinates.  Knows no plugin interface; any thread,
 * nothing fails. */
#ifndef PBT_EXPLORE_H
#define PBT_EXPLORE_H

#include "prior/prior.h"

struct explore_space {
    struct prior prior; /* owned */
    double *q;          /* owned; a dimension's q, 0 where there is none */

    /* What a trial is given for the coordinate x of `dim`. */
    double (*value)(void *ctx, size_t dim, double x);
    void *value_ctx;
};

/* For a and draw see struct prior_random; the draws from `draw` on are used,
 * EXPLORE_DRAWS of them. */
struct explore {
    double factor;   /* 0 or more */
    double resample; /* 0 to 1 */
    struct prior_random random;
    uint64_t a;
    uint32_t draw;
};

enum { EXPLORE_DRAWS = 3 };

void explore_space_fini(struct explore_space *s);

/* `from` is a point of the space; `to` may not be the same array. */
void explore_point(const struct explore_space *s, const struct explore *how,
                   const double *from, double *to);

#endif
