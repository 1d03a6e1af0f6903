/* SPDX-License-Identifier: MIT */
#include "manager/pareto.h"

#include "core/grow.h"
#include "json.h"
#include "numerics/hypervolume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
pareto_fini(struct pareto *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->drop != NULL)
            p->drop(p->points[i].of);
    free(p->points);
    *p = (struct pareto){.of = p->of, .drop = p->drop};
}

static bool
is_equal(const struct objectives *of, const struct objective_values *a,
         const struct objective_values *b)
{
    for (size_t i = 0; i < of->n; i++)
        if (a->values[i] < b->values[i] || a->values[i] > b->values[i])
            return false;
    return !(a->violation < b->violation) && !(a->violation > b->violation);
}

static void
drop_all(struct pareto *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->drop != NULL)
            p->drop(p->points[i].of);
    p->n = 0;
    p->grew = 0;
}

/* Drops what a result dominates; false: it is dominated, or there already. */
static bool
make_room(struct pareto *p, const struct objective_values *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++)
        if (objectives_dominates(p->of, &p->points[i].v, v) ||
            is_equal(p->of, &p->points[i].v, v))
            return false;
    for (size_t i = 0; i < p->n; i++) {
        if (!objectives_dominates(p->of, v, &p->points[i].v))
            p->points[kept++] = p->points[i];
        else if (p->drop != NULL)
            p->drop(p->points[i].of);
    }
    p->n = kept;
    return true;
}

/* Whether it is better than the reference in each objective. */
static bool
counts(const struct objectives *of, const struct objective_values *v)
{
    if (v->violation > 0)
        return false;
    for (size_t i = 0; i < of->n; i++)
        if (!(objectives_cost(of, i, v->values[i]) <
              objectives_cost(of, i, of->items[i].reference)))
            return false;
    return true;
}

bool
pareto_add(struct pareto *p, const char *trial, double budget,
           const struct objective_values *v, void *of)
{
    struct pareto_point *point;

    p->seen++;
    if (budget < p->budget)
        return false;
    if (budget > p->budget)
        drop_all(p);
    p->budget = budget;
    if (GROW(p->points, p->n, p->cap) != 0 || !make_room(p, v))
        return false;
    point = &p->points[p->n++];
    *point = (struct pareto_point){.v = *v, .of = of};
    snprintf(point->trial, sizeof point->trial, "%s", trial);
    if (counts(p->of, v)) {
        p->grew = p->seen;
        memcpy(p->grew_by, point->trial, sizeof p->grew_by);
    }
    return true;
}

bool
pareto_has_references(const struct objectives *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (isnan(of->items[i].reference))
            return false;
    return true;
}

/* The costs of the points within all limits, to be freed, and the references;
 * NULL: out of memory. */
static double *
costs_within(const struct pareto *p, double *reference, size_t *n)
{
    const struct objectives *of = p->of;
    double *costs = malloc((p->n + 1) * of->n * sizeof *costs);

    *n = 0;
    for (size_t i = 0; i < of->n; i++)
        reference[i] = objectives_cost(of, i, of->items[i].reference);
    for (size_t i = 0; costs != NULL && i < p->n; i++) {
        if (p->points[i].v.violation > 0)
            continue;
        for (size_t k = 0; k < of->n; k++)
            costs[*n * of->n + k] =
                objectives_cost(of, k, p->points[i].v.values[k]);
        ++*n;
    }
    return costs;
}

/* Whether the volume of n points is worked out. */
static bool
measures(const struct pareto *p, size_t n)
{
    static const size_t most[OBJECTIVES_MAX + 1] = {
        [6] = 2000, [7] = 500, [8] = 200};
    size_t limit = most[p->of->n];

    return p->of_any_size || limit == 0 || n <= limit;
}

double
pareto_hypervolume(const struct pareto *p)
{
    double reference[OBJECTIVES_MAX], out = (double)NAN, *costs;
    size_t n;

    if (!pareto_has_references(p->of))
        return (double)NAN;
    costs = costs_within(p, reference, &n);
    if (costs != NULL && measures(p, n) &&
        hypervolume(costs, n, p->of->n, reference, &out) != 0)
        out = (double)NAN;
    free(costs);
    return out;
}

double
pareto_gain(const struct pareto *p, double budget,
            const struct objective_values *v)
{
    double reference[OBJECTIVES_MAX], point[OBJECTIVES_MAX], out = (double)NAN;
    double *costs;
    size_t n;

    if (budget < p->budget || !counts(p->of, v))
        return 0;
    costs = costs_within(p, reference, &n);
    for (size_t i = 0; i < p->of->n; i++)
        point[i] = objectives_cost(p->of, i, v->values[i]);
    if (budget > p->budget)
        n = 0;
    if (costs != NULL && measures(p, n + 1) &&
        hypervolume_gain(costs, n, p->of->n, reference, point, &out) != 0)
        out = (double)NAN;
    free(costs);
    return out;
}

uint64_t
pareto_since(const struct pareto *p)
{
    return p->seen - p->grew;
}

static int
compare(const void *a, const void *b, void *vp)
{
    const struct pareto *p = vp;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    for (size_t i = 0; i < p->of->n; i++) {
        double cx = objectives_cost(p->of, i, p->points[x].v.values[i]);
        double cy = objectives_cost(p->of, i, p->points[y].v.values[i]);

        if (cx < cy || cx > cy)
            return cx < cy ? -1 : 1;
    }
    return (x > y) - (x < y);
}

size_t *
pareto_order(const struct pareto *p)
{
    size_t *order = malloc((p->n + 1) * sizeof *order);

    for (size_t i = 0; order != NULL && i < p->n; i++)
        order[i] = i;
    if (order != NULL)
        qsort_r(order, p->n, sizeof *order, compare, (void *)p);
    return order;
}

size_t
pareto_knee(const struct pareto *p)
{
    double low[OBJECTIVES_MAX], high[OBJECTIVES_MAX], least = INFINITY;
    size_t knee = PARETO_NONE;

    if (p->n < 3)
        return PARETO_NONE;
    for (size_t i = 0; i < p->of->n; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (size_t k = 0; k < p->n; k++) {
            double c = objectives_cost(p->of, i, p->points[k].v.values[i]);

            low[i] = fmin(low[i], c);
            high[i] = fmax(high[i], c);
        }
    }
    for (size_t k = 0; k < p->n; k++) {
        double sum = 0;

        for (size_t i = 0; i < p->of->n; i++)
            if (high[i] > low[i])
                sum += (objectives_cost(p->of, i, p->points[k].v.values[i]) -
                        low[i]) /
                       (high[i] - low[i]);
        if (sum < least) {
            least = sum;
            knee = k;
        }
    }
    return knee;
}

bool
pareto_read(const struct objectives *of, const char *values,
            struct objective_values *out)
{
    struct json *doc = json_parse(values, strlen(values), JSON_NAN, NULL);
    struct jval v = doc != NULL ? json_root(doc) : (struct jval){NULL};
    bool lone = doc != NULL && jval_type(v) != JSON_OBJECT;
    bool ok = doc != NULL;

    for (size_t i = 0; ok && i < of->n_values; i++) {
        out->values[i] = (double)NAN;
        if (lone ? strcmp(of->names[i], "default") == 0
                 : jval_get(json_root(doc), of->names[i], &v))
            jval_number(v, &out->values[i]);
        ok = i >= of->n || isfinite(out->values[i]);
    }
    if (ok)
        out->violation = objectives_violation(of, out->values);
    json_free(doc);
    return ok;
}

void
pareto_write_growth(const struct pareto *p, double volume,
                    struct json_writer *w)
{
    if (!pareto_has_references(p->of))
        return;
    json_add_number(w, "hypervolume", volume);
    json_add_text(w, "grew_by", p->grew > 0 ? p->grew_by : NULL);
    json_add_unsigned(w, "since", pareto_since(p));
}

void
pareto_write_values(const struct objectives *of,
                    const struct objective_values *v, struct json_writer *w)
{
    json_open_object(w, "values");
    for (size_t i = 0; i < of->n_values; i++)
        json_add_number(w, of->names[i], v->values[i]);
    json_close(w);
    if (of->n_limits > 0)
        json_add_number(w, "violation", v->violation);
}

void
pareto_write_best(const struct pareto *p, size_t most, pareto_more *more,
                  void *ctx, struct json_writer *w)
{
    size_t *order = pareto_order(p), knee = pareto_knee(p);

    json_open_array(w, "best");
    for (size_t i = 0; order != NULL && i < p->n && i < most; i++) {
        const struct pareto_point *point = &p->points[order[i]];

        json_open_object(w, NULL);
        json_add_text(w, "trial", point->trial);
        pareto_write_values(p->of, &point->v, w);
        json_add_bool(w, "knee", order[i] == knee);
        if (more != NULL)
            more(ctx, point, w);
        json_close(w);
    }
    json_close(w);
    free(order);
}
