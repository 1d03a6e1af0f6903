/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The sweep goes through the front in the order of the last cost.  What is not
 * dominated at one value of it is a row of strips side by side along the first
 * cost, each up to a bound of the second one.  A point cuts off the strips
 * behind it: what it cuts off is a box up to there, and it opens one strip.
 * With two costs all of it is one value of the last one.
 *
 * Improvements are shares of that below the reference, so that the sum of
 * their products does not vanish while a point may be better than that. */
#include "gp/volume.h"

#include "elementary.h"
#include "gp/improvement.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 0.1   /* of the width of the front, behind it */
#define NARROW 0.05  /* of what all rows span: a front that may grow */
#define SURE 8.0     /* deviations, from which on nothing is left to chance */
#define NOTHING 60   /* logarithm of a share that does not count */
#define LEAST 1e-250 /* sums below it are not accurate */

/* A bound of a cost, and of a point how far it is expected to be below it. */
struct volume_edge {
    double at, z, log, slope; /* log_improvement() and its slope */
    double share;             /* of the improvement below the reference */
    double by_mean, by_deviation;
};

/* Numbers of edges. */
struct volume_box {
    size_t low[VOLUME_COSTS_MAX], high[VOLUME_COSTS_MAX];
};

/* Up to the next one; `since`: the edge of the last cost. */
struct volume_strip {
    size_t left, top, since;
};

int
volume_init(struct volume *v, size_t n_costs, size_t room)
{
    memset(v, 0, sizeof *v);
    v->n_costs = n_costs;
    v->room = room;
    v->front = calloc(room * n_costs + 1, sizeof *v->front);
    v->place = calloc(room * n_costs + 1, sizeof *v->place);
    v->edges = calloc((room + 2) * n_costs, sizeof *v->edges);
    v->boxes = calloc(2 * room + 1, sizeof *v->boxes);
    v->strips = calloc(room + 1, sizeof *v->strips);
    return v->front == NULL || v->place == NULL || v->edges == NULL ||
                   v->boxes == NULL || v->strips == NULL
               ? -1
               : 0;
}

void
volume_fini(struct volume *v)
{
    free(v->front);
    free(v->place);
    free(v->edges);
    free(v->boxes);
    free(v->strips);
}

/* ---- the front ---- */

void
volume_begin(struct volume *v)
{
    v->n = 0;
    for (size_t k = 0; k < v->n_costs; k++) {
        v->least[k] = INFINITY;
        v->most[k] = -INFINITY;
    }
}

static bool
is_as_good(const struct volume *v, const double *a, const double *b)
{
    for (size_t k = 0; k < v->n_costs; k++)
        if (!(a[k] <= b[k]))
            return false;
    return true;
}

void
volume_add(struct volume *v, const double *costs, bool counts)
{
    size_t d = v->n_costs, n = 0;

    for (size_t k = 0; k < d; k++) {
        v->least[k] = costs[k] < v->least[k] ? costs[k] : v->least[k];
        v->most[k] = costs[k] > v->most[k] ? costs[k] : v->most[k];
    }
    for (size_t i = 0; i < v->n || !counts; i++)
        if (!counts || is_as_good(v, v->front + i * d, costs))
            return;
    for (size_t i = 0; i < v->n; i++)
        if (!is_as_good(v, costs, v->front + i * d))
            memmove(v->front + n++ * d, v->front + i * d, d * sizeof *v->front);
    memcpy(v->front + n * d, costs, d * sizeof *v->front);
    v->n = n + 1;
}

static struct volume_edge *
edges_of(const struct volume *v, size_t k)
{
    return v->edges + k * (v->room + 2);
}

/* Puts the front in the order of cost k. */
static void
order(struct volume *v, size_t k)
{
    struct volume_edge *e = edges_of(v, k);

    for (size_t i = 0; i < v->n; i++) {
        double c = v->front[i * v->n_costs + k];
        size_t at = i + 1;

        for (; at > 1 && c < e[at - 1].at; at--)
            e[at] = e[at - 1];
        e[at].at = c;
        for (size_t j = 0; j < i; j++)
            v->place[j * v->n_costs + k] += v->place[j * v->n_costs + k] >= at;
        v->place[i * v->n_costs + k] = at;
    }
}

/* Where what is to be gained begins and ends. */
static void
bound(struct volume *v, size_t k, const struct volume_bound *b)
{
    struct volume_edge *e = edges_of(v, k), *end = e + v->n + 1;
    double width = e[v->n].at - e[1].at, all = v->most[k] - v->least[k];

    e[0].at = b->is_cut && width > NARROW * all ? e[1].at : -INFINITY;
    end->at = e[v->n].at + MARGIN * (width > 0 ? width : all > 0 ? all : 1);
    if (v->most[k] > end->at)
        end->at += b->reach * (v->most[k] - end->at);
}

/* ---- boxes ---- */

static void
cut_off(struct volume *v, const struct volume_strip *s, size_t left,
        size_t right, size_t last)
{
    v->boxes[v->n_boxes++] = (struct volume_box){
        {left, 0, s->since},
        {right, s->top, last},
    };
}

/* Takes point i away from n_strips strips; returns how many there are. */
static size_t
take_away(struct volume *v, size_t n_strips, size_t i)
{
    const size_t *at = v->place + i * v->n_costs;
    bool is_flat = v->n_costs == 2;
    size_t last = is_flat ? 0 : at[2], first = n_strips, next;
    struct volume_strip *s = v->strips;

    while (s[first - 1].left >= at[0])
        first--;
    if (s[first - 1].top <= at[1])
        return n_strips; /* dominated but for the last cost */
    for (next = first; next < n_strips && s[next].top > at[1];)
        next++;
    for (size_t j = first - 1; j < next && !is_flat; j++)
        cut_off(v, &s[j], j < first ? at[0] : s[j].left,
                j + 1 < n_strips ? s[j + 1].left : v->n + 1, last);
    memmove(s + first + 1, s + next, (n_strips - next) * sizeof *s);
    s[first] = (struct volume_strip){at[0], at[1], last};
    return n_strips + 1 - (next - first);
}

void
volume_close(struct volume *v, const struct volume_bound *bounds)
{
    size_t last = v->n_costs - 1, n = 1;

    for (size_t k = 0; k < v->n_costs; k++) {
        order(v, k);
        bound(v, k, &bounds[k]);
    }
    v->n_boxes = 0;
    v->strips[0] = (struct volume_strip){0, v->n + 1, 0};
    for (size_t turn = 1; turn <= v->n; turn++)
        for (size_t i = 0; i < v->n; i++)
            if (v->place[i * v->n_costs + last] == turn)
                n = take_away(v, n, i);
    for (size_t j = 0; j < n; j++)
        cut_off(v, &v->strips[j], v->strips[j].left,
                j + 1 < n ? v->strips[j + 1].left : v->n + 1, v->n + 1);
}

/* ---- the gain ---- */

/* Cost k with this mean and deviation below each edge; not `all`: of those that
 * it is hardly below nothing. */
static void
look_below(struct volume *v, size_t k, double mean, double deviation, bool all)
{
    struct volume_edge *edges = edges_of(v, k), *top = edges + v->n + 1;
    double z_top = (top->at - mean) / deviation;

    edges[0].log = -INFINITY;
    edges[0].share = edges[0].by_mean = edges[0].by_deviation = 0;
    for (size_t i = v->n + 2; i-- > (isinf(edges[0].at) ? 1 : 0);) {
        struct volume_edge *e = edges + i;

        e->z = (e->at - mean) / deviation;
        if (e->z > SURE && !all) {
            e->share = e->z / z_top;
            e->by_mean = 1 / z_top;
            e->by_deviation = 0;
            continue;
        }
        e->log = log_improvement(e->z, &e->slope);
        if (z_top > SURE)
            e->share = num_exp(e->log) / z_top;
        else
            e->share = num_exp(e->log - top->log);
        e->by_mean = e->share * e->slope;
        e->by_deviation = e->share * (1 - e->z * e->slope);
        if (all || e->log > -NOTHING + (z_top > SURE ? 0 : top->log))
            continue;
        for (; i < v->n + 2; i--)
            edges[i].share = edges[i].by_mean = edges[i].by_deviation = 0;
        return; /* less even of what lies below */
    }
}

/* The sum over the boxes, as a share of all improvements below the reference,
 * and its slopes. */
static double
add_boxes(struct volume *v, struct volume_gain *out)
{
    double sum = 0;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < v->n_boxes; i++) {
        const struct volume_box *b = &v->boxes[i];
        double share[VOLUME_COSTS_MAX] = {1, 1, 1};
        const struct volume_edge *low[VOLUME_COSTS_MAX];
        const struct volume_edge *high[VOLUME_COSTS_MAX];

        for (size_t k = 0; k < v->n_costs; k++) {
            low[k] = edges_of(v, k) + b->low[k];
            high[k] = edges_of(v, k) + b->high[k];
            share[k] = high[k]->share - low[k]->share;
        }
        sum += share[0] * share[1] * share[2];
        for (size_t k = 0; k < v->n_costs; k++) {
            double others = 1;

            for (size_t j = 0; j < v->n_costs; j++)
                others *= j == k ? 1 : share[j];
            out->by_mean[k] -= others * (high[k]->by_mean - low[k]->by_mean);
            out->by_variance[k] +=
                others * (high[k]->by_deviation - low[k]->by_deviation);
        }
    }
    return sum;
}

/* Where a point is hardly better than the front: of the box that it is
 * likeliest to be below, as if that had no lower bounds. */
static void
take_nearest(struct volume *v, const double *mean, const double *deviation,
             struct volume_gain *out)
{
    const struct volume_box *nearest = NULL;

    out->gain = -INFINITY;
    for (size_t k = 0; k < v->n_costs; k++)
        look_below(v, k, mean[k], deviation[k], true);
    for (size_t i = 0; i < v->n_boxes; i++) {
        const struct volume_box *b = &v->boxes[i];
        double gain = 0;

        for (size_t k = 0; k < v->n_costs; k++) {
            const struct volume_edge *e = edges_of(v, k);

            gain += e[b->high[k]].at > e[b->low[k]].at ? e[b->high[k]].log
                                                       : -(double)INFINITY;
        }
        if (gain > out->gain) {
            out->gain = gain;
            nearest = b;
        }
    }
    for (size_t k = 0; k < v->n_costs && nearest != NULL; k++) {
        const struct volume_edge *e = edges_of(v, k) + nearest->high[k];

        out->gain += num_log(deviation[k]);
        out->by_mean[k] = -e->slope / deviation[k];
        out->by_variance[k] =
            (1 - e->slope * e->z) / (2 * deviation[k] * deviation[k]);
    }
}

void
volume_gain(struct volume *v, const double *mean, const double *variance,
            struct volume_gain *out)
{
    double deviation[VOLUME_COSTS_MAX], sum;

    for (size_t k = 0; k < v->n_costs; k++) {
        deviation[k] = num_sqrt(variance[k]);
        look_below(v, k, mean[k], deviation[k], false);
    }
    sum = add_boxes(v, out);
    if (!(sum > LEAST)) {
        take_nearest(v, mean, deviation, out);
        return;
    }
    out->gain = num_log(sum);
    for (size_t k = 0; k < v->n_costs; k++) {
        const struct volume_edge *top = edges_of(v, k) + v->n + 1;

        out->gain += num_log(deviation[k]) +
                     (top->z > SURE ? num_log(top->z) : top->log);
        out->by_mean[k] /= deviation[k] * sum;
        out->by_variance[k] /= 2 * deviation[k] * deviation[k] * sum;
    }
}
