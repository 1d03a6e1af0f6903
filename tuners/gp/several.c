/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The processes know the points; of the results they are told no value, but are
 * lent them for one question at a time.  A factor depends on points and length
 * scales alone, so other values cost little.
 *
 * The costs are scaled to what the front of the results spans, and not to all
 * results: a front is short where the worst is far, and weights would then
 * lead to one end of it. */
#include "gp/several.h"

#include "elementary.h"
#include "front.h"
#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS 0xfffffff2u /* beyond the numbers of dimensions */
#define RHO 0.05            /* of the sum beside the greatest: Knowles's */
#define BEYOND 0.3 /* of what lies between best and worst: most to add */
#define NARROW 0.1 /* of what all results span */
#define MOST 1e300

void
several_free(struct several *p)
{
    if (p == NULL)
        return;
    gp_free(p->gp);
    free(p->costs);
    free(p->violations);
    free(p->front);
    free(p->lent);
    free(p);
}

struct several *
several_new(struct gp *gp, enum several_rule rule, size_t n_costs)
{
    struct several *p = calloc(1, sizeof *p);

    if (p == NULL) {
        gp_free(gp);
        return NULL;
    }
    p->gp = gp;
    p->rule = rule;
    p->n_costs = n_costs;
    return p;
}

/* ---- results ---- */

/* For one more. */
static int
make_room(struct several *p)
{
    size_t room = grow_cap(p->room);

    if (p->n < p->room)
        return 0;
    if (grow_to(&p->costs, room, p->n_costs * sizeof *p->costs) != 0 ||
        grow_to(&p->lent, room, p->n_costs * sizeof *p->lent) != 0 ||
        grow_to(&p->violations, room, sizeof *p->violations) != 0 ||
        grow_to(&p->front, room, sizeof *p->front) != 0)
        return -1;
    p->room = room;
    return 0;
}

static const double *
costs_of(const struct several *p, size_t i)
{
    return p->costs + i * p->n_costs;
}

static bool
is_final(const struct several *p, size_t i)
{
    return p->gp->results.at[i].class == GP_FINAL;
}

static bool
dominates(const struct several *p, size_t a, size_t b)
{
    return front_dominates(costs_of(p, a), p->violations[a], costs_of(p, b),
                           p->violations[b], p->n_costs);
}

static void
join_front(struct several *p, size_t i)
{
    size_t n = 0;

    if (!is_final(p, i))
        return;
    for (size_t k = 0; k < p->n_front; k++)
        if (dominates(p, p->front[k], i))
            return;
    for (size_t k = 0; k < p->n_front; k++)
        if (!dominates(p, i, p->front[k]))
            p->front[n++] = p->front[k];
    p->front[n++] = i;
    p->n_front = n;
}

/* Result i; one that there was is another now. */
static void
note(struct several *p, size_t i, const double *costs, double violation)
{
    bool is_new = i == p->n;

    for (size_t k = 0; k < p->n_costs; k++)
        p->costs[i * p->n_costs + k] = costs == NULL ? (double)NAN : costs[k];
    p->violations[i] = violation;
    p->gp->results.at[i].value = 0;
    if (is_new) {
        p->n++;
        join_front(p, i);
        return;
    }
    p->n_front = 0;
    for (size_t j = 0; j < p->n; j++)
        join_front(p, j);
}

static bool
are_finite(const double *costs, size_t n)
{
    for (size_t k = 0; costs != NULL && k < n; k++)
        if (!isfinite(costs[k]))
            return false;
    return costs != NULL;
}

int
several_tell(struct several *p, uint64_t id, const double *x,
             enum gp_class class, const double *costs, double violation)
{
    const struct gp_points *r = &p->gp->results;
    size_t i;

    if (p->rule == SEVERAL_NONE)
        return gp_tell(p->gp, id, x, class, costs[0]);
    violation = violation > 0 ? violation : isnan(violation) ? INFINITY : 0;
    if (!are_finite(costs, p->n_costs))
        costs = NULL;
    if (class == GP_FINAL && (costs == NULL || !isfinite(violation)))
        class = GP_FAILED;
    if (make_room(p) != 0 || gp_tell(p->gp, id, x, class, 0) != 0)
        return -1;
    i = r->n - 1;
    while (r->n == p->n && r->at[i].id != id)
        i--;
    note(p, i, costs, violation);
    return 0;
}

int
several_lost(struct several *p, uint64_t id, const double *x, bool counts,
             enum gp_class class)
{
    if (p->rule == SEVERAL_NONE)
        return gp_lost(p->gp, id, x, counts, class);
    if (make_room(p) != 0 || gp_lost(p->gp, id, x, counts, class) != 0)
        return -1;
    if (p->gp->results.n > p->n)
        note(p, p->n, NULL, 0);
    return 0;
}

/* ---- one number ---- */

/* Uniform among those that sum to 1. */
static void
draw_weights(struct several *p, uint64_t id)
{
    const struct prior_random *r = &p->gp->services.random;
    double sum = 0;

    for (size_t k = 0; k < p->n_costs; k++) {
        double u = r->uniform(r->ctx, id, WEIGHTS, (uint32_t)k);

        p->weights[k] = -num_log(1 - u);
        sum += p->weights[k];
    }
    for (size_t k = 0; k < p->n_costs; k++)
        p->weights[k] = sum > 0 ? p->weights[k] / sum : 1;
}

struct scale {
    double least[SEVERAL_COSTS_MAX], width[SEVERAL_COSTS_MAX];
};

static void
spread(const struct several *p, const size_t *rows, size_t n, size_t k,
       double *least, double *width)
{
    double most = -INFINITY;

    *least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        size_t row = rows == NULL ? i : rows[i];
        double c = costs_of(p, row)[k];

        if (!is_final(p, row) || p->violations[row] > 0)
            continue;
        *least = c < *least ? c : *least;
        most = c > most ? c : most;
    }
    *width = most - *least;
}

/* Of the front; where that is narrow, of all. */
static void
find_scale(const struct several *p, struct scale *s)
{
    double narrow = p->rule == SEVERAL_VOLUME ? NARROW : 0;

    for (size_t k = 0; k < p->n_costs; k++) {
        double least, all;

        spread(p, p->front, p->n_front, k, &s->least[k], &s->width[k]);
        spread(p, NULL, p->n, k, &least, &all);
        if (!(s->width[k] > (narrow > 0 ? narrow * all : 0)))
            s->width[k] = narrow > 0 ? narrow * all : all;
        if (!(s->width[k] > 0))
            s->width[k] = 1;
    }
}

/* The augmented Chebyshev norm. */
static double
norm_of(const struct several *p, const struct scale *s, const double *costs)
{
    double sum = 0, most = -INFINITY, v;

    for (size_t k = 0; k < p->n_costs; k++) {
        v = p->weights[k] * ((costs[k] - s->least[k]) / s->width[k]);
        sum += v;
        most = v > most ? v : most;
    }
    v = most + RHO * sum;
    return v < -MOST ? -MOST : v < MOST ? v : MOST;
}

/* ---- limits ---- */

struct beyond {
    double mean;     /* how far beyond limits those are that are */
    bool has_within; /* a final result */
};

static bool
has_costs(const struct several *p, size_t i)
{
    return p->gp->results.at[i].class != GP_FAILED && !isnan(costs_of(p, i)[0]);
}

static struct beyond
look_beyond(const struct several *p)
{
    struct beyond b = {.mean = 1};
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        double far = p->violations[i];

        if (!has_costs(p, i))
            continue;
        if (is_final(p, i) && far <= 0) {
            b.has_within = true;
        } else if (isfinite(far) && far > 0) {
            sum += far < MOST ? far : MOST;
            n++;
        }
    }
    if (n > 0)
        b.mean = sum / (double)n;
    return b;
}

/* How far result i is beyond, from 0 to 1: half way at the mean distance. */
static double
part_beyond(const struct several *p, const struct beyond *b, size_t i)
{
    double far = p->violations[i];

    return far <= 0 ? 0 : far < MOST ? far / (far + b->mean) : 1;
}

/* Each result is worth one number.  What is beyond a limit is worth the best
 * that is within at most, and less the farther it is: a cliff at the limit
 * would be noise to the process, which would keep away from what is best beside
 * it.  Where nothing is within, how far it is counts alone. */
static void
lend_norms(struct several *p, const struct scale *scale)
{
    struct gp_point *at = p->gp->results.at;
    const struct beyond beyond = look_beyond(p);
    double best = INFINITY, worst = -INFINITY, width;

    for (size_t i = 0; i < p->n; i++) {
        at[i].value = NAN;
        if (!has_costs(p, i))
            continue;
        at[i].value = norm_of(p, scale, costs_of(p, i));
        if (is_final(p, i) && p->violations[i] <= 0) {
            best = at[i].value < best ? at[i].value : best;
            worst = at[i].value > worst ? at[i].value : worst;
        }
    }
    width = worst > best ? worst - best : 1;
    for (size_t i = 0; i < p->n; i++) {
        double part = part_beyond(p, &beyond, i);

        if (isnan(at[i].value) || p->violations[i] <= 0)
            continue;
        if (!beyond.has_within)
            at[i].value = part;
        else
            at[i].value = (at[i].value > best ? at[i].value : best) +
                          BEYOND * width * part;
    }
}

/* How much less each cost may be, in the front's widths, while the front still
 * dominates; below 0: how much more it has to be. */
static double
depth_of(const struct several *p, const struct scale *s, const double *costs)
{
    double depth = -INFINITY;

    for (size_t i = 0; i < p->n_front; i++) {
        const double *c = costs_of(p, p->front[i]);
        double least = INFINITY;

        for (size_t k = 0; k < p->n_costs; k++) {
            double v = (costs[k] - c[k]) / s->width[k];

            least = v < least ? v : least;
        }
        depth = least > depth ? least : depth;
    }
    return depth > MOST ? MOST : depth;
}

/* Adds a part of all costs to each: what gains little of one for much of the
 * others does not count as better, so that the front has ends. */
static void
augment(const struct several *p, const struct scale *s, double *costs)
{
    double sum = 0;

    for (size_t k = 0; k < p->n_costs; k++)
        sum += (costs[k] - s->least[k]) / s->width[k];
    for (size_t k = 0; k < p->n_costs; k++)
        costs[k] += RHO * s->width[k] * sum;
}

/* Each result has its costs.  What is beyond a limit is brought behind the
 * front, the farther it is the more, for the reason given above. */
static void
lend_costs(struct several *p, const struct scale *scale)
{
    struct gp_point *at = p->gp->results.at;
    const struct beyond beyond = look_beyond(p);

    for (size_t i = 0; i < p->n; i++) {
        double part = part_beyond(p, &beyond, i), depth, more;
        double *out = p->lent + i * p->n_costs;
        bool is_beyond = p->violations[i] > 0;

        memcpy(out, costs_of(p, i), p->n_costs * sizeof *out);
        at[i].value = MOST;
        if (!has_costs(p, i))
            continue;
        depth = depth_of(p, scale, out);
        more = (depth < 0 ? -depth : 0) + BEYOND * part;
        for (size_t k = 0; k < p->n_costs; k++)
            if (!beyond.has_within)
                out[k] = part;
            else if (is_beyond)
                out[k] += more * scale->width[k];
        if (!is_final(p, i))
            at[i].value = 1;
        else if (!beyond.has_within)
            at[i].value = part - 2;
        else
            at[i].value = is_beyond ? part : -1 / (1 + depth);
    }
    for (size_t i = 0; i < p->n && beyond.has_within; i++)
        augment(p, scale, p->lent + i * p->n_costs);
    p->gp->lent = p->lent;
}

static void
lend_values(struct several *p)
{
    struct scale scale;

    if (p->rule == SEVERAL_NONE)
        return;
    find_scale(p, &scale);
    if (p->rule == SEVERAL_VOLUME)
        lend_costs(p, &scale);
    else
        lend_norms(p, &scale);
}

static void
take_values_back(struct several *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->gp->results.at[i].value = 0;
    p->gp->lent = NULL;
}

int
several_ask(struct several *p, uint64_t id, double *x)
{
    int rc;

    if (p->rule == SEVERAL_WEIGHTS)
        draw_weights(p, id);
    lend_values(p);
    rc = gp_ask(p->gp, id, x);
    take_values_back(p);
    return rc;
}

int
several_score(struct several *p, const double *const *points, size_t n,
              double *out)
{
    int rc;

    for (size_t k = 0; k < p->n_costs; k++)
        p->weights[k] = 1 / (double)p->n_costs;
    lend_values(p);
    rc = gp_score(p->gp, points, n, out);
    take_values_back(p);
    return rc;
}

/* ---- saving ---- */

void
several_save(const struct several *p, const struct tp_sink *sink)
{
    gp_save(p->gp, sink);
    if (p->rule == SEVERAL_NONE)
        return;
    tp_put_f64s(sink, p->violations, p->n);
    tp_put_f64s(sink, p->costs, p->n * p->n_costs);
}

/* A final result has costs, and a violation, which are finite; another one has
 * all its costs or none. */
static bool
is_sound(const struct several *p, size_t i)
{
    const double *costs = costs_of(p, i);
    bool is_whole = are_finite(costs, p->n_costs);

    for (size_t k = 0; k < p->n_costs && !is_whole; k++)
        if (!isnan(costs[k]))
            return false;
    if (!(p->violations[i] >= 0))
        return false;
    return !is_final(p, i) || (is_whole && isfinite(p->violations[i]));
}

const char *
several_load(struct several *p, const struct tp_source *source)
{
    const char *wrong = gp_load(p->gp, source);

    if (wrong != NULL || p->rule == SEVERAL_NONE)
        return wrong;
    while (p->n < p->gp->results.n) {
        if (make_room(p) != 0)
            return "out of memory";
        p->n++;
    }
    if (tp_get_f64s(source, p->violations, p->n) != TP_OK ||
        tp_get_f64s(source, p->costs, p->n * p->n_costs) != TP_OK)
        return "the saved costs are cut off";
    for (size_t i = 0; i < p->n; i++) {
        if (p->gp->results.at[i].value != 0 || !is_sound(p, i))
            return "a saved result has costs that cannot be";
        join_front(p, i);
    }
    return NULL;
}
