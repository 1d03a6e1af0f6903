/* SPDX-License-Identifier: MIT */
#include "cmaes/state.h"

#include "elementary.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE_U 1e-9  /* of unit coordinates */
#define TOLERANCE_F 1e-11 /* of the first generation's range of values */

/* Draws of restarts lie beyond those of dimensions. */
#define RESTART_DRAW 0xfffffff0u

/* The bests of the last generations differ by nothing worth it. */
static bool
is_stagnant(const struct cmaes_restart *r)
{
    double low = INFINITY, high = -INFINITY;

    if (r->n_best < r->room)
        return false;
    for (size_t i = 0; i < r->room; i++) {
        low = r->best[i] < low ? r->best[i] : low;
        high = r->best[i] > high ? r->best[i] : high;
    }
    return !(high - low > TOLERANCE_F * r->scale);
}

static bool
is_narrow(const struct cmaes *c)
{
    if (c->n_line == 0)
        return false;
    for (size_t i = 0; i < c->n_line; i++)
        if (cmaes_gauss_deviation(&c->gauss, i) > TOLERANCE_U)
            return false;
    return true;
}

bool
cmaes_restart_is_due(struct cmaes *c, double best, double worst)
{
    struct cmaes_restart *r = &c->restart;

    if (isfinite(best) && isfinite(worst) && !(r->scale > 0))
        r->scale = worst - best;
    r->best[r->n_best++ % r->room] = best;
    if (c->options.restarts == CMAES_NONE)
        return false;
    return is_stagnant(r) || is_narrow(c);
}

int
cmaes_restart_population(struct cmaes *c, size_t population)
{
    struct cmaes_restart *r = &c->restart;
    size_t n = c->n_line + c->n_pick, room;
    double *best;

    population = population < 2 ? 2 : population;
    room = 10 + (30 * n + population - 1) / population;
    best = realloc(r->best, room * sizeof *best);
    if (best == NULL)
        return -1;
    c->population = population;
    r->best = best;
    r->n_best = 0;
    r->room = room;
    return 0;
}

/* The large regime doubles; BIPOP's small one lies between the first and half
 * of the large one, with a step to match (Hansen 2009). */
static size_t
next_population(struct cmaes *c, double *sigma)
{
    struct cmaes_restart *r = &c->restart;
    double first = (double)c->options.population, u, ratio;

    *sigma = c->options.sigma;
    r->is_small = c->options.restarts == CMAES_BIPOP && r->era > 1 &&
                  r->used[1] < r->used[0];
    if (!r->is_small) {
        r->large =
            r->large * 2 < CMAES_POPULATION_MAX ? r->large * 2 : r->large;
        return r->large;
    }
    u = cmaes_uniform(c, RESTART_DRAW, 0);
    ratio = 0.5 * (double)r->large / first;
    *sigma *=
        num_exp(-2 * 2.302585092994046 * cmaes_uniform(c, RESTART_DRAW, 1));
    return (size_t)(first * num_exp(u * u * num_log(ratio)));
}

int
cmaes_restart(struct cmaes *c, bool grows)
{
    struct cmaes_restart *r = &c->restart;
    double sigma;
    size_t population = c->population;

    c->draws++;
    c->past.stall = 0;
    c->past.is_given_up = false;
    r->era++;
    sigma = c->options.sigma;
    if (grows)
        population = next_population(c, &sigma);
    if (cmaes_restart_population(c, population) != 0)
        return -1;
    cmaes_points_clear(&c->arrived);
    cmaes_gauss_reset(&c->gauss, sigma);
    cmaes_categories_reset(&c->categories);
    for (size_t i = 0; i < c->n_line; i++)
        c->gauss.mean[i] = cmaes_uniform(c, (uint32_t)c->line[i], 0);
    cmaes_margins(c);
    return 0;
}
