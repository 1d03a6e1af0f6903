/* SPDX-License-Identifier: MIT */
/* cmaes.h - the covariance matrix adaptation evolution strategy over real,
 * rounded, integer and categorical parameters.
 *
 * N. Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772, 2016;
 * with margin: R. Hamano, S. Saito, M. Nomura, S. Shirakawa, "CMA-ES with
 * Margin", GECCO 2022, and "CatCMA", GECCO 2024; restarts: A. Auger, N.
 * Hansen, CEC 2005 (IPOP), N. Hansen, GECCO 2009 (BIPOP); warm start: M.
 * Nomura et al., AAAI 2021; many parameters: R. Ros, N. Hansen, PPSN 2008.
 *
 * All parameters live in the distribution, whatever branch they hang on; those
 * of another branch than the trial's are not moved by it.  Any number of
 * points may be out.  Smaller values are better: who maximises negates.
 * Depends on its calls and on `random` alone.  One thread. */
#ifndef TUNERS_CMAES_CMAES_H
#define TUNERS_CMAES_CMAES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMAES_NO_PARENT ((size_t)-1)
#define CMAES_NO_ID (~(uint64_t)0)
#define CMAES_POPULATION_MAX 10000

enum cmaes_kind { CMAES_REAL, CMAES_STEPS, CMAES_ORDER, CMAES_CATEGORY };

/* Internal coordinates, as the plugin interface has them. */
struct cmaes_dim {
    enum cmaes_kind kind;
    bool is_log, is_normal;      /* REAL, STEPS */
    uint64_t n_choices;          /* ORDER, CATEGORY */
    double low, high, mu, sigma; /* REAL, STEPS */
    double q;                    /* STEPS: in the user's unit */
    size_t parent;               /* a CATEGORY of lower number, or none */
    uint64_t parent_choice;
};

enum cmaes_restarts { CMAES_NONE, CMAES_IPOP, CMAES_BIPOP };

struct cmaes_options {
    size_t population; /* 0: 4 + floor(3 ln n) */
    double sigma;      /* the first step, in unit coordinates (axis.h) */
    enum cmaes_restarts restarts;
    bool surrogate;
};

/* What it asks of the outside.  key: 128 bits that are equal when a trial gets
 * the same parameters; -1: x is no point.  bits: random, by what they are
 * for. */
struct cmaes_services {
    void *ctx;
    uint64_t (*bits)(void *ctx, uint64_t a, uint32_t b, uint32_t draw);
    int (*key)(void *ctx, const double *x, uint64_t *key);
};

/* How good a result is, before its value counts. */
enum cmaes_class { CMAES_FINAL, CMAES_CENSORED, CMAES_FAILED };

/* For people: how the last point came about. */
struct cmaes_story {
    uint64_t generation, restart, repeated;
    size_t population, arrived, modelled;
    double sigma;
    double gain; /* logarithm of what the model expects; NaN: not asked */
};

struct cmaes;

/* dims are copied, the services' ctx borrowed.  NULL: out of memory. */
struct cmaes *cmaes_new(const struct cmaes_dim *dims, size_t n,
                        const struct cmaes_options *options,
                        const struct cmaes_services *services);
void cmaes_free(struct cmaes *c);

/* Fills x (n long; NaN where inactive) for the trial `id`.  -1: out of
 * memory. */
int cmaes_ask(struct cmaes *c, uint64_t id, double *x);

/* A result; NaN and infinities count as CMAES_FAILED.  Without a known id, or
 * with another point than was asked, it is taken in as one from outside.  -1:
 * out of memory. */
int cmaes_tell(struct cmaes *c, uint64_t id, const double *x,
               enum cmaes_class class, double value);

/* No result will come of it: it failed, or was taken away. */
int cmaes_lost(struct cmaes *c, uint64_t id, bool failed);

/* score.c: how much it would like to ask for each of n points, more is better;
 * NaN: it has no opinion yet.  Later answers are the same.  -1: out of
 * memory. */
int cmaes_score(struct cmaes *c, const double *const *points, size_t n,
                double *out);

struct cmaes_story cmaes_story(const struct cmaes *c);

#endif
