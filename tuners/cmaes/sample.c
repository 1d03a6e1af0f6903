/* SPDX-License-Identifier: MIT */
#include "cmaes/state.h"

#include "cmaes/axis.h"
#include "elementary.h"

/* How often a point beyond the bounds is drawn anew before it is clipped. */
#define TRIES 5

double
cmaes_uniform(const struct cmaes *c, uint32_t dim, uint32_t draw)
{
    uint64_t bits = c->services.bits(c->services.ctx, c->draws, dim, draw);

    return (double)(bits >> 11) * 0x1p-53;
}

double
cmaes_normal(const struct cmaes *c, uint32_t dim, uint32_t draw)
{
    uint64_t bits = c->services.bits(c->services.ctx, c->draws, dim, draw);

    return num_normal_quantile(((double)(bits >> 12) + 0.5) * 0x1p-52);
}

static void
pick(const struct cmaes *c, struct cmaes_point *p)
{
    for (size_t i = 0; i < c->n_pick; i++) {
        uint32_t dim = (uint32_t)c->category[i];

        p->pick[i] = CMAES_UNPICKED;
        if (cmaes_point_is_active(c, p, dim))
            p->pick[i] = cmaes_categories_pick(&c->categories, i,
                                               cmaes_uniform(c, dim, 0));
    }
}

/* Whether all bounded and active parameters are within their bounds. */
static bool
draw_line(struct cmaes *c, struct cmaes_point *p, uint32_t draw)
{
    const struct cmaes_gauss *g = &c->gauss;
    bool is_inside = true;

    for (size_t i = 0; i < c->n_line; i++)
        c->z[i] = cmaes_normal(c, (uint32_t)c->line[i], draw);
    cmaes_gauss_colour(g, c->z, p->u);
    for (size_t i = 0; i < c->n_line; i++) {
        const struct cmaes_dim *d = &c->dims[c->line[i]];
        double u = g->mean[i] + g->sigma * c->stretch[i] * p->u[i];

        p->u[i] = u;
        if (d->kind == CMAES_REAL && u != cmaes_axis_clip(d, u) &&
            cmaes_point_is_active(c, p, c->line[i]))
            is_inside = false;
    }
    return is_inside;
}

void
cmaes_sample(struct cmaes *c, struct cmaes_point *p)
{
    p->id = CMAES_NO_ID;
    p->born = c->generation;
    p->era = c->restart.era;
    c->draws++;
    pick(c, p);
    for (uint32_t draw = 0; draw < TRIES; draw++)
        if (draw_line(c, p, draw))
            return;
    for (size_t i = 0; i < c->n_line; i++)
        if (c->dims[c->line[i]].kind == CMAES_REAL)
            p->u[i] = cmaes_axis_clip(&c->dims[c->line[i]], p->u[i]);
}
