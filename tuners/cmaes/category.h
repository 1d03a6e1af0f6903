/* SPDX-License-Identifier: MIT */
/* category.h - the distributions of categorical parameters: a probability for
 * each element, moved by the natural gradient in steps that the signal in it
 * allows (Y. Akimoto, S. Shirakawa, N. Yoshinari, K. Uchida, S. Saito, K.
 * Nishida, "Adaptive Stochastic Natural Gradient Method for One-Shot Neural
 * Architecture Search", ICML 2019), with the margin of CatCMA: no element
 * becomes so improbable that it is never seen again.  One thread. */
#ifndef TUNERS_CMAES_CATEGORY_H
#define TUNERS_CMAES_CATEGORY_H

#include <stddef.h>
#include <stdint.h>

struct cmaes_categories {
    size_t n;        /* parameters */
    size_t *at;      /* n + 1: where the elements of each begin */
    double *theta;   /* at[n]: their probabilities */
    double *path;    /* at[n]: the gradient's, whitened */
    double *scratch; /* at[n] */
    double delta;    /* the step */
    double gamma;    /* how much of the path is there yet */
    double margin;   /* how often something else is seen, at least */
};

/* counts: the elements of each.  -1: out of memory.  cmaes_categories_fini()
 * is called in any case. */
int cmaes_categories_init(struct cmaes_categories *c, const size_t *counts,
                          size_t n, double margin);
void cmaes_categories_fini(struct cmaes_categories *c);

/* All elements are equally probable again. */
void cmaes_categories_reset(struct cmaes_categories *c);

/* The element of parameter i that `uniform` in [0, 1) falls on. */
uint32_t cmaes_categories_pick(const struct cmaes_categories *c, size_t i,
                               double uniform);

/* pick: n_points rows of n elements, CMAES_UNPICKED where inactive; w: their
 * weights, 0 for what does not count. */
#define CMAES_UNPICKED (~(uint32_t)0)
void cmaes_categories_update(struct cmaes_categories *c, const uint32_t *pick,
                             const double *w, size_t n_points);

/* theta sums up to 1 again and keeps its margin. */
void cmaes_categories_mend(struct cmaes_categories *c);

#endif
