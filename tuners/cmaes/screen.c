/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Of many points that a trial could get, the one from which the model expects
 * the greatest improvement (D. R. Jones, M. Schonlau, W. J. Welch, "Efficient
 * Global Optimization of Expensive Black-Box Functions", 1998) is taken:
 * draws of the distribution, mutants of the best results, then mutants of the
 * most promising one so far, in smaller and smaller steps.  The distribution
 * learns from them as from points of elsewhere.
 *
 * The model is the faster one as long as it has not seen where it leads; when
 * it makes no more progress the distribution goes on alone from the best
 * results, and converges where the model cannot.  A restart is the model's
 * again. */
#include "cmaes/cmaes.h"

#include "cmaes/axis.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS_MIN 8 /* before that the distribution alone decides */
#define PATIENCE 5    /* populations without progress */
#define DRAWN 40
#define NEAR 20
#define REFINED 60
#define PARENTS 3      /* best results that are mutated */
#define CHANGES 2.0    /* parameters of a mutant that change, on average */
#define STEP 0.2       /* of a mutant, at first */
#define STEP_FALLS 7.0 /* logarithm of how much smaller it becomes */

#define FORCED_DRAW 0xfffffff1u /* beyond the numbers of dimensions */

struct contest {
    struct cmaes_point best;
    double gain, target;
    double *features, *x;
};

/* At least as wide as a cell, so that it can be left. */
static double
step_at(const struct cmaes_dim *d, double u, double step)
{
    double low, high;

    if (!cmaes_axis_has_cells(d) || !cmaes_axis_cell(d, u, &low, &high))
        return step;
    if (isinf(low) || isinf(high)) /* an outermost one */
        return step;
    return step > high - low ? step : high - low;
}

static void
mutate_picks(const struct cmaes *c, const struct cmaes_point *base,
             struct cmaes_point *p, size_t forced, double rate)
{
    for (size_t i = 0; i < c->n_pick; i++) {
        uint32_t dim = (uint32_t)c->category[i];
        double n = (double)c->dims[dim].n_choices;

        p->pick[i] = CMAES_UNPICKED;
        if (!cmaes_point_is_active(c, p, dim))
            continue;
        p->pick[i] = base->pick[i];
        if (p->pick[i] == CMAES_UNPICKED || i == forced ||
            cmaes_uniform(c, dim, 0) < rate)
            p->pick[i] = (uint32_t)(cmaes_uniform(c, dim, 1) * n);
    }
}

/* p: base with a few changes, at least one. */
static void
mutate(struct cmaes *c, const struct cmaes_point *base, struct cmaes_point *p,
       double step)
{
    size_t n = c->n_line + c->n_pick, forced;
    double rate = CHANGES / (double)n;

    c->draws++;
    forced = (size_t)(cmaes_uniform(c, FORCED_DRAW, 0) * (double)n);
    mutate_picks(c, base, p, forced, rate);
    memcpy(p->u, base->u, c->n_line * sizeof *p->u);
    for (size_t i = 0; i < c->n_line; i++) {
        uint32_t dim = (uint32_t)c->line[i];
        const struct cmaes_dim *d = &c->dims[dim];

        if (c->n_pick + i != forced && cmaes_uniform(c, dim, 0) >= rate)
            continue;
        p->u[i] += step_at(d, p->u[i], step) * cmaes_normal(c, dim, 1);
        p->u[i] = cmaes_axis_clip(d, p->u[i]);
    }
}

static bool
is_new(const struct cmaes *c, const struct cmaes_point *p, double *x)
{
    uint64_t key[2];

    cmaes_point_compose(c, p, x);
    return c->services.key(c->services.ctx, x, key) == 0 &&
           cmaes_known_find(&c->known, key) == NULL;
}

static void
take(const struct cmaes *c, struct cmaes_point *to,
     const struct cmaes_point *from)
{
    memcpy(to->u, from->u, c->n_line * sizeof *to->u);
    memcpy(to->pick, from->pick, c->n_pick * sizeof *to->pick);
}

static void
compete(struct cmaes *c, struct contest *k, const struct cmaes_point *p)
{
    double gain;

    cmaes_past_features(c, p, k->features);
    gain = cmaes_model_gain(&c->past.model, k->features, k->target);
    if (gain > k->gain && is_new(c, p, k->x)) {
        k->gain = gain;
        take(c, &k->best, p);
    }
}

static void
run_contest(struct cmaes *c, struct contest *k, struct cmaes_point *p)
{
    const struct cmaes_past *past = &c->past;
    size_t parents = past->n_best < PARENTS ? 1 : PARENTS;

    for (size_t i = 0; i < DRAWN; i++) {
        cmaes_sample(c, p);
        compete(c, k, p);
    }
    for (size_t i = 0; i < NEAR; i++) {
        double fall = STEP_FALLS * (double)i / NEAR;

        mutate(c, &past->points.at[past->best[i % parents]], p,
               STEP * num_exp(-fall));
        compete(c, k, p);
    }
    for (size_t i = 0; i < REFINED && k->gain > -INFINITY; i++) {
        double fall = STEP_FALLS * (double)i / REFINED;

        mutate(c, &k->best, p, STEP * num_exp(-fall));
        compete(c, k, p);
    }
}

bool
cmaes_screen_is_on(const struct cmaes *c)
{
    const struct cmaes_past *past = &c->past;

    return past->is_used && !past->is_given_up && past->n_best >= RESULTS_MIN;
}

bool
cmaes_screen(struct cmaes *c, struct cmaes_point *p)
{
    struct contest k = {.gain = -INFINITY};
    struct cmaes_past *past = &c->past;

    c->gain = NAN;
    if (!past->is_given_up && past->stall > PATIENCE * c->population) {
        past->is_given_up = true;
        if (cmaes_warm_restart(c) != 0)
            return false;
    }
    if (!cmaes_screen_is_on(c) || cmaes_past_fit(c) != 0)
        return false;
    k.features = calloc(past->model.n_feature + c->n + 1, sizeof *k.features);
    if (k.features == NULL || cmaes_point_init(c, &k.best) != 0) {
        free(k.features);
        return false;
    }
    k.x = k.features + past->model.n_feature;
    k.target = past->model.y[0];
    run_contest(c, &k, p);
    if (k.gain > -INFINITY) {
        take(c, p, &k.best);
        p->born = CMAES_SCREENED;
        c->gain = k.gain;
    }
    cmaes_point_fini(&k.best);
    free(k.features);
    return k.gain > -INFINITY;
}
