/* SPDX-License-Identifier: MIT */
#include "nsga2/nsga2.h"

#include "elementary.h"
#include "front.h"
#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of random draws that belong to no parameter. */
enum { OF_PARENTS = 0xfffffff1u };

#define FAR 100.0 /* ranges away from the middle */

/* Draws of one parameter; asked again, further on. */
enum { TAKES, SPREADS, SIDE, CHANGES, SHIFTS, PRIOR, N_DRAWS };

void
nsga2_free(struct nsga2 *g)
{
    if (g == NULL)
        return;
    prior_fini(&g->prior);
    free(g->axes);
    for (size_t i = 0; i < g->n; i++)
        free(g->members[i]);
    free(g->members);
    free(g);
}

struct nsga2 *
nsga2_new(const struct nsga2_options *options,
          const struct prior_random *random, struct prior *prior,
          struct cmaes_dim *axes, size_t n_costs)
{
    struct nsga2 *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->options = *options;
    g->random = *random;
    g->n_dims = prior->n_dims;
    g->n_costs = n_costs;
    g->last_id = NSGA2_NO_ID;
    g->prior = *prior;
    g->axes = axes;
    *prior = (struct prior){0};
    return g;
}

/* ---- children ---- */

struct child {
    const struct nsga2 *g;
    uint64_t id;
    uint32_t draw;
    const double *mother, *father; /* the same: no crossover */
    double likely;                 /* that a parameter changes */
};

static double
uniform(const struct child *c, uint32_t dim, uint32_t what)
{
    return c->g->random.uniform(c->g->random.ctx, c->id, dim, c->draw + what);
}

/* The better one of two. */
static size_t
tournament(const struct child *c, uint32_t round)
{
    double n = (double)c->g->n;
    size_t a = (size_t)(uniform(c, OF_PARENTS, round) * n);
    size_t b = (size_t)(uniform(c, OF_PARENTS, round + 1) * n);

    return a < b ? a : b;
}

static double
near(double u)
{
    return u < -FAR ? -FAR : u > FAR ? FAR : u;
}

/* Between the parents or beside them (Deb and Agrawal 1995). */
static double
cross(const struct child *c, uint32_t dim, double a, double b)
{
    double u = uniform(c, dim, SPREADS), spread;
    double power = 1 / (c->g->options.crossover_index + 1);

    spread = u < 0.5 ? num_pow(2 * u, power) : num_pow(2 * (1 - u), -power);
    if (uniform(c, dim, SIDE) < 0.5)
        spread = -spread;
    return (a + b + spread * (a - b)) / 2;
}

/* Polynomial mutation, in ranges of the parameter. */
static double
shift(const struct child *c, uint32_t dim)
{
    double u = uniform(c, dim, SHIFTS);
    double power = 1 / (c->g->options.mutation_index + 1);

    return u < 0.5 ? num_pow(2 * u, power) - 1
                   : 1 - num_pow(2 * (1 - u), power);
}

static double
inherit_number(const struct child *c, uint32_t dim, double a, double b,
               size_t *n_changed)
{
    const struct cmaes_dim *d = &c->g->axes[dim];
    double at = near(cmaes_axis_unit(d, a)), other;

    if (!isnan(b) && a != b && uniform(c, dim, TAKES) < 0.5) {
        other = near(cmaes_axis_unit(d, b));
        at = cross(c, dim, at, other);
    } else if (uniform(c, dim, CHANGES) >= c->likely) {
        return a; /* to the bit */
    }
    if (uniform(c, dim, CHANGES) < c->likely) {
        at += shift(c, dim);
        ++*n_changed;
    }
    return cmaes_axis_internal(d, cmaes_axis_clip(d, near(at)));
}

static double
inherit_element(const struct child *c, uint32_t dim, double a, double b,
                size_t *n_changed)
{
    if (uniform(c, dim, CHANGES) < c->likely) {
        ++*n_changed;
        return prior_draw(&c->g->prior.dims[dim], uniform(c, dim, SHIFTS));
    }
    return !isnan(b) && uniform(c, dim, TAKES) < 0.5 ? b : a;
}

/* A parameter that neither parent has is drawn. */
static size_t
fill(const struct child *c, double *x)
{
    const struct nsga2 *g = c->g;
    size_t n_changed = 0;

    for (size_t i = 0; i < g->n_dims; i++) {
        uint32_t dim = (uint32_t)i;
        double a = c->mother[i], b = c->father[i];

        x[i] = NAN;
        if (!prior_active(&g->prior, x, i))
            continue;
        if (isnan(a)) {
            a = b;
            b = NAN;
        }
        if (isnan(a))
            x[i] = prior_draw(&g->prior.dims[i], uniform(c, dim, PRIOR));
        else if (g->axes[i].kind == CMAES_CATEGORY)
            x[i] = inherit_element(c, dim, a, b, &n_changed);
        else if (cmaes_axis_is_free(&g->axes[i]))
            x[i] = inherit_number(c, dim, a, b, &n_changed);
        else
            x[i] = a;
    }
    return n_changed;
}

static double
count_free(const struct nsga2 *g, const double *x)
{
    double n = 0;

    for (size_t i = 0; i < g->n_dims; i++)
        n += !isnan(x[i]) && cmaes_axis_is_free(&g->axes[i]);
    return n < 1 ? 1 : n;
}

void
nsga2_ask(struct nsga2 *g, uint64_t id, double *x)
{
    struct nsga2_story *s = &g->story;
    struct child c = {.g = g, .id = id};

    g->again = id == g->last_id ? g->again + 1 : 0;
    g->last_id = id;
    c.draw = (uint32_t)g->again * N_DRAWS;
    *s = (struct nsga2_story){.is_child = g->n >= g->options.population};
    if (!s->is_child) {
        prior_fill(&g->prior, x, &g->random, id, c.draw + PRIOR);
        return;
    }
    s->places[0] = s->places[1] = tournament(&c, 0);
    if (uniform(&c, OF_PARENTS, 4) < g->options.crossover)
        s->places[1] = tournament(&c, 2);
    for (int k = 0; k < 2; k++)
        s->parents[k] = g->members[s->places[k]]->id;
    c.mother = g->members[s->places[0]]->x;
    c.father = g->members[s->places[1]]->x;
    c.likely = 1 / count_free(g, c.mother);
    s->n_changed = fill(&c, x);
}

/* ---- the population ---- */

static struct nsga2_member *
member_new(const struct nsga2 *g)
{
    struct nsga2_member *m =
        calloc(1, sizeof *m + (g->n_costs + g->n_dims) * sizeof(double));

    if (m == NULL)
        return NULL;
    m->costs = (double *)(m + 1);
    m->x = m->costs + g->n_costs;
    return m;
}

/* Takes m. */
static int
join(struct nsga2 *g, struct nsga2_member *m)
{
    if (m == NULL || GROW(g->members, g->n, g->room) != 0) {
        free(m);
        return -1;
    }
    g->members[g->n++] = m;
    return 0;
}

/* Best first, and no more than there may be. */
static int
cull(struct nsga2 *g)
{
    size_t n = g->n;
    uint32_t *order = calloc(n, sizeof *order);
    struct nsga2_member **sorted = calloc(n, sizeof(*sorted));
    double *costs = calloc(n * (g->n_costs + 1), sizeof *costs);
    double *violations;
    int rc = -1;

    if (order == NULL || sorted == NULL || costs == NULL)
        goto done;
    violations = costs + n * g->n_costs;
    for (size_t i = 0; i < n; i++) {
        memcpy(costs + i * g->n_costs, g->members[i]->costs,
               g->n_costs * sizeof *costs);
        violations[i] = g->members[i]->violation;
    }
    if (front_order(costs, violations, n, g->n_costs, order) != 0)
        goto done;
    for (size_t i = 0; i < n; i++)
        sorted[i] = g->members[order[i]];
    memcpy(g->members, sorted, n * sizeof(*sorted));
    if (n > g->options.population)
        free(g->members[--g->n]);
    rc = 0;
done:
    free(order);
    free(sorted);
    free(costs);
    return rc;
}

int
nsga2_tell(struct nsga2 *g, uint64_t id, const double *x, const double *costs,
           double violation)
{
    struct nsga2_member *m;

    for (size_t k = 0; k < g->n_costs; k++)
        if (!isfinite(costs[k]))
            return 0;
    m = member_new(g);
    if (m == NULL)
        return -1;
    m->id = id;
    m->violation = violation > 0      ? violation
                   : isnan(violation) ? (double)INFINITY
                                      : 0;
    memcpy(m->costs, costs, g->n_costs * sizeof *costs);
    memcpy(m->x, x, g->n_dims * sizeof *x);
    if (join(g, m) != 0)
        return -1;
    if (cull(g) != 0) {
        free(g->members[--g->n]);
        return -1;
    }
    return 0;
}

/* ---- saving ---- */

void
nsga2_save(const struct nsga2 *g, const struct tp_sink *sink)
{
    tp_put_u64(sink, g->last_id);
    tp_put_u64(sink, g->again);
    tp_put_u64(sink, g->n);
    for (size_t i = 0; i < g->n; i++) {
        const struct nsga2_member *m = g->members[i];

        tp_put_u64(sink, m->id);
        tp_put_f64(sink, m->violation);
        tp_put_f64s(sink, m->costs, g->n_costs + g->n_dims);
    }
}

/* NULL, or what was wrong; m is filled, costs and x being one row. */
static const char *
load_member(const struct nsga2 *g, struct nsga2_member *m,
            const struct tp_source *source)
{
    if (tp_get_u64(source, &m->id) != TP_OK ||
        tp_get_f64(source, &m->violation) != TP_OK ||
        tp_get_f64s(source, m->costs, g->n_costs + g->n_dims) != TP_OK)
        return "the saved population is cut off";
    if (!(m->violation >= 0) || !prior_holds(&g->prior, m->x))
        return "a saved point is none of this search space";
    for (size_t k = 0; k < g->n_costs; k++)
        if (!isfinite(m->costs[k]))
            return "a saved cost is no number";
    return NULL;
}

const char *
nsga2_load(struct nsga2 *g, const struct tp_source *source)
{
    uint64_t n;

    if (tp_get_u64(source, &g->last_id) != TP_OK ||
        tp_get_u64(source, &g->again) != TP_OK ||
        tp_get_u64(source, &n) != TP_OK || n > g->options.population)
        return "what was saved is cut off";
    while (n-- > 0) {
        struct nsga2_member *m = member_new(g);
        const char *wrong;

        if (m == NULL)
            return "out of memory";
        wrong = load_member(g, m, source);
        if (join(g, m) != 0)
            return "out of memory";
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}
