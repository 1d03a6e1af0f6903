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

#include "cmaes/axis.h"
#include "cmaes/category.h"
#include "cmaes/gauss.h"
#include "cmaes/known.h"
#include "cmaes/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMAES_NO_ID (~(uint64_t)0)
#define CMAES_POPULATION_MAX 10000

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

/* How much it would like to ask for each of n points, more is better;
 * NaN: it has no opinion yet.  Later answers are the same.  -1: out of
 * memory. */
int cmaes_score(struct cmaes *c, const double *const *points, size_t n,
                double *out);

struct cmaes_story cmaes_story(const struct cmaes *c);

/* ---- what one search holds, for the files of this folder ---- */

#define CMAES_FIXED ((size_t)-1)
#define CMAES_SCREENED (~(uint64_t)0) /* born of no generation */
/* How many results the model takes: the best and the newest. */
#define CMAES_MODEL_BEST 64
#define CMAES_MODEL_NEW 64
#define CMAES_MODEL_PENDING 64
#define CMAES_MODEL_FAILED 32 /* the newest */
#define CMAES_MODEL_DIMS_MAX 100

/* A point of the distribution.  u: unit coordinates, n_line of them, those of
 * inactive parameters as they were drawn; pick: n_pick elements, then n_line
 * flags that say what is active. */
struct cmaes_point {
    uint64_t id;    /* CMAES_NO_ID: from outside */
    uint64_t born;  /* generation */
    uint64_t era;   /* restart */
    uint64_t order; /* of arrival */
    enum cmaes_class class;
    double value;
    double *u;
    uint32_t *pick;
};

struct cmaes_points {
    struct cmaes_point *at;
    size_t n, room;
};

/* When to start anew, and how large the populations have been. */
struct cmaes_restart {
    uint64_t era;
    size_t large;     /* population of the last large regime */
    uint64_t used[2]; /* results used up by the large, the small ones */
    bool is_small;
    double *best;        /* of the last generations, a ring */
    size_t n_best, room; /* room: how many make it stagnant */
    double scale;        /* of values: the first generation's range */
};

/* Results for the model: all that there were, and the best of them. */
struct cmaes_past {
    struct cmaes_points points;            /* in the order of their arrival */
    size_t best[CMAES_MODEL_BEST], n_best; /* their numbers, best first */
    struct cmaes_model model;
    bool is_stale; /* the model does not know the last ones */
    bool is_used;
    uint64_t stall;   /* results since the last progress */
    bool is_given_up; /* the distribution goes on alone, up to a restart */
};

struct cmaes {
    struct cmaes_dim *dims;
    size_t n;
    struct cmaes_options options;
    struct cmaes_services services;
    size_t *slot; /* n: number among the line's or the categories; or fixed */
    size_t *line, *category; /* the numbers of their dimensions */
    size_t n_line, n_pick;
    size_t population;
    struct cmaes_gauss gauss;
    struct cmaes_categories categories;
    double *stretch; /* n_line: by which deviations keep their margin */
    double *z;       /* n_line, scratch */
    uint64_t draws, generation, repeated;
    struct cmaes_restart restart;
    struct cmaes_points pending; /* by rising id */
    struct cmaes_points arrived;
    struct cmaes_points warm; /* imported before the first ask */
    struct cmaes_known known;
    struct cmaes_past past;
    double gain; /* that the last point promised; NaN: it was drawn */
    double best; /* of final results; infinite: none */
    bool has_begun;
};

int cmaes_point_init(const struct cmaes *c, struct cmaes_point *p);
void cmaes_point_fini(struct cmaes_point *p);
int cmaes_point_copy(const struct cmaes *c, const struct cmaes_point *p,
                     struct cmaes_point *out);
bool cmaes_point_is_better(const struct cmaes_point *a,
                           const struct cmaes_point *b);
/* Takes p, on failure, too. */
int cmaes_points_insert(struct cmaes_points *list, size_t at,
                        struct cmaes_point *p);
void cmaes_points_clear(struct cmaes_points *list);
bool cmaes_point_is_active(const struct cmaes *c, const struct cmaes_point *p,
                           size_t dim);
void cmaes_point_compose(const struct cmaes *c, const struct cmaes_point *p,
                         double *x);

/* uniform, in [0, 1), and normal: of this draw, for that
 * dimension. */
double cmaes_uniform(const struct cmaes *c, uint32_t dim, uint32_t draw);
double cmaes_normal(const struct cmaes *c, uint32_t dim, uint32_t draw);
void cmaes_sample(struct cmaes *c, struct cmaes_point *p);

/* cmaes_past_fit(): -1: there is nothing to fit. */
int cmaes_past_add(struct cmaes *c, const struct cmaes_point *p);
int cmaes_past_fit(struct cmaes *c);
void cmaes_past_features(const struct cmaes *c, const struct cmaes_point *p,
                         double *x);

/* Fills p with the point that promises most; false: the model has
 * nothing to say. */
bool cmaes_screen(struct cmaes *c, struct cmaes_point *p);
/* Whether it is the model's turn, if it can be fitted. */
bool cmaes_screen_is_on(const struct cmaes *c);

void cmaes_margins(struct cmaes *c);

/* From what was imported; from all results.  -1: out of memory. */
int cmaes_warm_start(struct cmaes *c);
int cmaes_warm_restart(struct cmaes *c);

int cmaes_restart(struct cmaes *c, bool grows);
int cmaes_restart_population(struct cmaes *c, size_t population);

#endif
