/* SPDX-License-Identifier: MIT */
/* qmc.h - points that fill a search space evenly: scrambled Sobol numbers
 * (sobol.h) through the quantiles of the priors.
 *
 * A parameter takes a dimension of the sequence.  Branches of one choice are
 * never there together, so they take the same dimensions: what is active is
 * always among the first ones, which are the most even, and of every branch
 * the points are as even as its share of all allows.  One thread. */
#ifndef TUNERS_QMC_QMC_H
#define TUNERS_QMC_QMC_H

#include <stddef.h>
#include <stdint.h>

#define QMC_NO_PARENT ((size_t)-1)

struct qmc_dim {
    uint64_t n_choices; /* 0: continuous */
    int is_normal;      /* continuous: mu, sigma; else low, high */
    double low, high, mu, sigma;
    size_t parent; /* QMC_NO_PARENT, or a choice with a lower number */
    uint64_t parent_choice;
};

struct qmc;

/* dims are copied.  NULL: out of memory. */
struct qmc *qmc_new(const struct qmc_dim *dims, size_t n, uint64_t seed);
void qmc_free(struct qmc *q);

/* Point `index` of the sequence: x is n long, NaN where inactive. */
void qmc_point(const struct qmc *q, uint64_t index, double *x);

/* The dimension of the sequence that parameter i takes; how many there are. */
uint32_t qmc_dimension(const struct qmc *q, size_t i);
uint32_t qmc_dimensions(const struct qmc *q);

#endif
