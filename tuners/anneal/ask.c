/* SPDX-License-Identifier: MIT */
/* DESIGN.  The half of anneal.h that asks.  Before each ask every group learns
 * how many pending points stand in for it; its k-th best is then found in the
 * list of results as if they had been sorted into it. */
#include "anneal/anneal.h"

#define SHRINK 0.1

/* What a draw is for, beside (id, dimension); each `again` has its own. */
enum { DRAW_VALUE, DRAW_PICK, DRAW_PRIOR, DRAW_RANDOM, N_DRAWS };

static bool
has_group(const struct anneal_group *g, const double *x)
{
    return !isnan(x[g->first]);
}

static double
lie(const struct anneal *a)
{
    double mean;

    if (a->lie == ANNEAL_LIE_MIN)
        return a->least;
    if (a->lie == ANNEAL_LIE_MAX)
        return a->greatest;
    mean = a->sum / (double)a->n_results;
    return isnan(mean) ? a->greatest : mean; /* of both infinities */
}

/* Pending points with their lie; there is none before the first result. */
static size_t
stand_in(struct anneal *a)
{
    if (a->n_results == 0)
        return 0;
    for (size_t i = 0; i < a->n_pending; i++)
        a->stand_ins[i] = (struct anneal_point){
            .x = a->pending[i].x, .loss = lie(a), .id = a->pending[i].id};
    return a->n_pending;
}

/* P(k) = 2^-(k+1), at most ANNEAL_BEST - 1. */
static size_t
geometric(double u)
{
    size_t k = 0;

    while (u < 0.5 && k < ANNEAL_BEST - 1) {
        u *= 2;
        k++;
    }
    return k;
}

/* Makes the groups ready for an ask. */
static void
begin(struct anneal *a, size_t n_stand_ins)
{
    for (size_t i = 0; i < a->n_groups; i++) {
        struct anneal_group *g = &a->groups[i];

        g->base = NULL;
        g->n_stand_ins = 0;
        for (size_t k = 0; k < n_stand_ins; k++)
            g->n_stand_ins += has_group(g, a->stand_ins[k].x);
    }
}

static uint64_t
total(const struct anneal_group *g)
{
    return g->count + g->n_stand_ins;
}

/* The k-th best of a group, the stand-ins being behind the results that are
 * as good. */
static const struct anneal_point *
kth(const struct anneal *a, const struct anneal_group *g, size_t k)
{
    size_t n = g->n_stand_ins, ahead = 0;

    while (n > 0 && ahead < g->n_best &&
           g->best[ahead]->loss <= a->stand_ins[0].loss)
        ahead++;
    if (k < ahead || n == 0)
        return g->best[k];
    if (k - ahead >= n)
        return g->best[k - n];
    for (size_t i = 0;; i++)
        if (has_group(g, a->stand_ins[i].x) && k-- == ahead)
            return &a->stand_ins[i];
}

/* The base of a group: what this ask went by already, or another pick. */
static const struct anneal_point *
base_for(struct anneal *a, const struct anneal_group *g, size_t *n_picks,
         double u, struct anneal_origin *origin)
{
    const struct anneal_point *p;
    size_t rank = geometric(u);

    for (size_t i = 0; i < *n_picks; i++)
        if (has_group(g, a->picks[i]->x))
            return a->picks[i];
    if (rank >= total(g))
        rank = (size_t)total(g) - 1;
    p = kth(a, g, rank);
    if (*n_picks == 0)
        *origin = (struct anneal_origin){.has_base = true,
                                         .results = total(g),
                                         .base = p->id,
                                         .base_loss = p->loss,
                                         .rank = rank,
                                         .is_pending = p->refs == 0};
    a->picks[(*n_picks)++] = p;
    return p;
}

static double
near_base(const struct prior_dim *d, double base, double s, double u)
{
    double half, centre, x;

    if (d->n_choices > 0) { /* u below s: any index; else the base's */
        if (u >= s)
            return base;
        return (double)prior_index(u / s, d->n_choices);
    }
    if (d->is_normal)
        return base + d->sigma * s * prior_normal(u);
    half = (d->high / 2 - d->low / 2) * s;
    centre = base < d->low + half ? d->low + half : base;
    centre = centre > d->high - half ? d->high - half : centre;
    x = centre + (2 * u - 1) * half;
    x = x < d->low ? d->low : x;
    return x > d->high ? d->high : x;
}

static double
shrink(const struct anneal_group *g)
{
    return 1 / (1 + SHRINK * (double)total(g));
}

void
anneal_ask(struct anneal *a, uint64_t id, uint32_t again, double *x,
           struct anneal_origin *origin)
{
    const struct prior_random *r = &a->random;
    uint32_t draw = again * N_DRAWS;
    size_t n_picks = 0;

    *origin = (struct anneal_origin){.base = ANNEAL_NO_ID};
    begin(a, stand_in(a));
    for (size_t i = 0; i < a->prior.n_dims; i++) {
        struct anneal_group *g = &a->groups[a->group_of[i]];
        const struct prior_dim *d = &a->prior.dims[i];
        uint32_t b = (uint32_t)i;

        x[i] = NAN;
        if (!prior_active(&a->prior, x, i))
            continue;
        if (total(g) == 0) {
            x[i] = prior_draw(d, r->uniform(r->ctx, id, b, draw + DRAW_PRIOR));
            continue;
        }
        if (g->base == NULL)
            g->base =
                base_for(a, g, &n_picks,
                         r->uniform(r->ctx, id, b, draw + DRAW_PICK), origin);
        x[i] = near_base(d, g->base->x[i], shrink(g),
                         r->uniform(r->ctx, id, b, draw + DRAW_VALUE));
    }
    if (origin->has_base)
        origin->shrink = 1 / (1 + SHRINK * (double)origin->results);
}

void
anneal_random(const struct anneal *a, uint64_t id, uint32_t again, double *x)
{
    prior_fill(&a->prior, x, &a->random, id, again * N_DRAWS + DRAW_RANDOM);
}
