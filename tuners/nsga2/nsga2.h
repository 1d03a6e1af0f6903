/* SPDX-License-Identifier: MIT */
/* nsga2.h - a population that several costs lead: children of two parents that
 * few others dominate, and that are far from those beside them.
 *
 * K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A Fast and Elitist
 * Multiobjective Genetic Algorithm: NSGA-II", 2002; K. Deb, R. B. Agrawal,
 * "Simulated Binary Crossover for Continuous Search Space", 1995.
 *
 * There are no generations: each result joins the population and the worst
 * leaves it, so that no trial waits for another.
 *
 * Points are arrays of n_dims doubles in internal coordinates; less of a cost
 * is better.  Knows no plugin interface but sinks and sources.  One thread. */
#ifndef TUNERS_NSGA2_NSGA2_H
#define TUNERS_NSGA2_NSGA2_H

#include "cmaes/axis.h"
#include "prior/prior.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSGA2_COSTS_MAX 8
#define NSGA2_NO_ID (~(uint64_t)0)

struct tp_sink;
struct tp_source;

struct nsga2_options {
    size_t population;      /* at most; 2 or more */
    double crossover;       /* probability that a child has two parents */
    double crossover_index; /* greater: nearer to the parents, as the next */
    double mutation_index;
};

struct nsga2_member {
    uint64_t id;
    double violation;
    double *costs; /* n_costs, behind the struct */
    double *x;     /* n_dims, behind them */
};

/* For people: how the last point came about. */
struct nsga2_story {
    bool is_child; /* else a draw of the prior */
    uint64_t parents[2];
    size_t places[2]; /* of the parents in the population, 0 is best */
    size_t n_changed; /* parameters */
};

struct nsga2 {
    struct nsga2_options options;
    struct prior_random random;
    struct prior prior;
    struct cmaes_dim *axes; /* n_dims */
    size_t n_dims, n_costs;
    struct nsga2_member **members; /* best first; owned */
    size_t n, room;
    uint64_t last_id, again;
    struct nsga2_story story;
};

/* Takes what prior holds, and axes (malloc).  NULL: out of memory, and neither
 * was taken. */
struct nsga2 *nsga2_new(const struct nsga2_options *options,
                        const struct prior_random *random, struct prior *prior,
                        struct cmaes_dim *axes, size_t n_costs);
void nsga2_free(struct nsga2 *g);

/* Fills x for the trial `id`; asked again, with another point. */
void nsga2_ask(struct nsga2 *g, uint64_t id, double *x);

/* A result; `violation`: how far it is beyond limits, 0: within all.  One with
 * a cost that is not finite never joins.  -1: out of memory. */
int nsga2_tell(struct nsga2 *g, uint64_t id, const double *x,
               const double *costs, double violation);

void nsga2_save(const struct nsga2 *g, const struct tp_sink *sink);

/* Right after nsga2_new().  NULL, or what was wrong; then it may only be
 * freed. */
const char *nsga2_load(struct nsga2 *g, const struct tp_source *source);

#endif
