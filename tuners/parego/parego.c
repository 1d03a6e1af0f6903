/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The process knows the points; of the results it is told no value, but is
 * lent them for one question at a time.  Its factor depends on points and
 * length scales alone, so other values cost little; the length scales follow
 * often, as each question sees others likely.
 *
 * The costs are scaled to what the front of the results spans, and not to all
 * results: a front is short where the worst is far, and weights would then
 * lead to one end of it. */
#include "parego/parego.h"

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
#define MOST 1e300

void
parego_free(struct parego *p)
{
    if (p == NULL)
        return;
    gp_free(p->gp);
    free(p->costs);
    free(p->violations);
    free(p->front);
    free(p);
}

struct parego *
parego_new(struct gp *gp, size_t n_costs)
{
    struct parego *p = calloc(1, sizeof *p);

    if (p == NULL) {
        gp_free(gp);
        return NULL;
    }
    p->gp = gp;
    p->n_costs = n_costs;
    return p;
}

/* ---- results ---- */

/* For one more. */
static int
make_room(struct parego *p)
{
    size_t room = grow_cap(p->room);

    if (p->n < p->room)
        return 0;
    if (grow_to(&p->costs, room, p->n_costs * sizeof *p->costs) != 0 ||
        grow_to(&p->violations, room, sizeof *p->violations) != 0 ||
        grow_to(&p->front, room, sizeof *p->front) != 0)
        return -1;
    p->room = room;
    return 0;
}

static const double *
costs_of(const struct parego *p, size_t i)
{
    return p->costs + i * p->n_costs;
}

static bool
is_final(const struct parego *p, size_t i)
{
    return p->gp->results.at[i].class == GP_FINAL;
}

static bool
dominates(const struct parego *p, size_t a, size_t b)
{
    return front_dominates(costs_of(p, a), p->violations[a], costs_of(p, b),
                           p->violations[b], p->n_costs);
}

static void
join_front(struct parego *p, size_t i)
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
note(struct parego *p, size_t i, const double *costs, double violation)
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
parego_tell(struct parego *p, uint64_t id, const double *x, enum gp_class class,
            const double *costs, double violation)
{
    const struct gp_points *r = &p->gp->results;
    size_t i;

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
parego_lost(struct parego *p, uint64_t id, const double *x, bool counts,
            enum gp_class class)
{
    if (make_room(p) != 0 || gp_lost(p->gp, id, x, counts, class) != 0)
        return -1;
    if (p->gp->results.n > p->n)
        note(p, p->n, NULL, 0);
    return 0;
}

/* ---- one number ---- */

/* Uniform among those that sum to 1. */
static void
draw_weights(struct parego *p, uint64_t id)
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
    double least[PAREGO_COSTS_MAX], width[PAREGO_COSTS_MAX];
};

static void
spread(const struct parego *p, const size_t *rows, size_t n, size_t k,
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

/* Of the front; where all of it costs the same, of all. */
static void
find_scale(const struct parego *p, struct scale *s)
{
    for (size_t k = 0; k < p->n_costs; k++) {
        double least;

        spread(p, p->front, p->n_front, k, &s->least[k], &s->width[k]);
        if (!(s->width[k] > 0))
            spread(p, NULL, p->n, k, &least, &s->width[k]);
        if (!(s->width[k] > 0))
            s->width[k] = 1;
    }
}

/* The augmented Chebyshev norm. */
static double
norm_of(const struct parego *p, const struct scale *s, const double *costs)
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

/* Each result is worth one number.  What is beyond a limit is worth the best
 * that is within at most, and less the farther it is, half way at the mean
 * distance: a cliff at the limit would be noise to the process, which would
 * keep away from what is best beside it.  Where nothing is within, how far it
 * is counts alone. */
static void
lend_values(struct parego *p)
{
    struct gp_point *at = p->gp->results.at;
    double best = INFINITY, worst = -INFINITY, sum = 0, mean, width;
    struct scale scale;
    size_t n = 0;

    find_scale(p, &scale);
    for (size_t i = 0; i < p->n; i++) {
        double far = p->violations[i];

        if (at[i].class == GP_FAILED || isnan(costs_of(p, i)[0])) {
            at[i].value = NAN;
            continue;
        }
        at[i].value = norm_of(p, &scale, costs_of(p, i));
        if (at[i].class == GP_FINAL && far <= 0) {
            best = at[i].value < best ? at[i].value : best;
            worst = at[i].value > worst ? at[i].value : worst;
        } else if (isfinite(far) && far > 0) {
            sum += far < MOST ? far : MOST;
            n++;
        }
    }
    mean = n > 0 ? sum / (double)n : 1;
    width = worst > best ? worst - best : 1;
    for (size_t i = 0; i < p->n; i++) {
        double far = p->violations[i], part;

        if (isnan(at[i].value) || far <= 0)
            continue;
        part = far < MOST ? far / (far + mean) : 1;
        if (best > worst)
            at[i].value = part;
        else
            at[i].value = (at[i].value > best ? at[i].value : best) +
                          BEYOND * width * part;
    }
}

static void
take_values_back(struct parego *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->gp->results.at[i].value = 0;
}

int
parego_ask(struct parego *p, uint64_t id, double *x)
{
    int rc;

    draw_weights(p, id);
    lend_values(p);
    rc = gp_ask(p->gp, id, x);
    take_values_back(p);
    return rc;
}

int
parego_score(struct parego *p, const double *const *points, size_t n,
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
parego_save(const struct parego *p, const struct tp_sink *sink)
{
    gp_save(p->gp, sink);
    tp_put_f64s(sink, p->violations, p->n);
    tp_put_f64s(sink, p->costs, p->n * p->n_costs);
}

/* A final result has costs, and a violation, which are finite; another one has
 * all its costs or none. */
static bool
is_sound(const struct parego *p, size_t i)
{
    const double *costs = costs_of(p, i);
    bool has_costs = are_finite(costs, p->n_costs);

    for (size_t k = 0; k < p->n_costs && !has_costs; k++)
        if (!isnan(costs[k]))
            return false;
    if (!(p->violations[i] >= 0))
        return false;
    return !is_final(p, i) || (has_costs && isfinite(p->violations[i]));
}

const char *
parego_load(struct parego *p, const struct tp_source *source)
{
    const char *wrong = gp_load(p->gp, source);

    if (wrong != NULL)
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
