/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * Where the model chooses, its logarithm of the expected improvement; where
 * the distribution does, how likely it draws the point.  The model's length
 * scales climb with every result that is asked for; whoever only scores sees
 * them climb all at once, and then they are put back. */
#include "cmaes/state.h"

#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLIMBS 4 /* more than for an ask, if none has been before */

/* What fitting changes that later answers depend on. */
struct kept {
    double *theta; /* log_theta, step and slope, in a row */
    size_t n;
    bool is_stale;
};

static int
keep(const struct cmaes *c, struct kept *k)
{
    const struct cmaes_model *m = &c->past.model;

    k->n = 3 * (m->n_feature + 2);
    k->is_stale = c->past.is_stale;
    k->theta = malloc(k->n * sizeof *k->theta);
    if (k->theta == NULL)
        return -1;
    memcpy(k->theta, m->log_theta, k->n * sizeof *k->theta);
    return 0;
}

static void
put_back(struct cmaes *c, struct kept *k)
{
    memcpy(c->past.model.log_theta, k->theta, k->n * sizeof *k->theta);
    c->past.is_stale = k->is_stale;
    free(k->theta);
}

static int
fit(struct cmaes *c)
{
    int climbs = c->has_begun ? 1 : CLIMBS, rc = 0;

    for (int i = 0; i < climbs && rc == 0; i++) {
        c->past.is_stale = c->past.is_stale || !c->has_begun;
        rc = cmaes_past_fit(c);
    }
    return rc;
}

static double
by_model(struct cmaes *c, const struct cmaes_point *p, double *features)
{
    cmaes_past_features(c, p, features);
    return cmaes_model_gain(&c->past.model, features, c->past.model.y[0]);
}

/* What is inactive lies at the mean. */
static double
by_distribution(struct cmaes *c, const struct cmaes_point *p, double *y)
{
    const struct cmaes_gauss *g = &c->gauss;
    const struct cmaes_categories *t = &c->categories;
    double score = 0;

    for (size_t i = 0; i < c->n_line; i++)
        y[i] = (p->u[i] - g->mean[i]) / (g->sigma * c->stretch[i]);
    cmaes_gauss_whiten(g, y, c->z);
    for (size_t i = 0; i < c->n_line; i++)
        score -= 0.5 * c->z[i] * c->z[i];
    for (size_t i = 0; i < c->n_pick; i++)
        if (p->pick[i] != CMAES_UNPICKED)
            score += num_log(t->theta[t->at[i] + p->pick[i]]);
    return score;
}

static int
score_all(struct cmaes *c, const double *const *points, size_t n, bool modelled,
          double *out)
{
    double *room = calloc(c->n_line + c->n_pick + 1, sizeof *room);
    struct cmaes_point p;

    if (room == NULL || cmaes_point_init(c, &p) != 0) {
        free(room);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        cmaes_point_read(c, &p, points[i]);
        out[i] =
            modelled ? by_model(c, &p, room) : by_distribution(c, &p, room);
    }
    cmaes_point_fini(&p);
    free(room);
    return 0;
}

int
cmaes_score(struct cmaes *c, const double *const *points, size_t n, double *out)
{
    struct kept kept;
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
    if (cmaes_screen_is_on(c)) {
        if (keep(c, &kept) != 0)
            return -1;
        if (fit(c) == 0)
            rc = score_all(c, points, n, true, out);
        put_back(c, &kept);
    } else if (c->has_begun && c->generation > 0) {
        rc = score_all(c, points, n, false, out);
    }
    return rc;
}
