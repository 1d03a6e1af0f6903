/* SPDX-License-Identifier: MIT */
#include "repair.h"

#include "tunepipe/shell.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HITS_MAX 32     /* samples that hold, of which the nearest is taken */
#define HALVINGS 30     /* of the way to the goal */
#define RESTORED_MAX 64 /* choices and integers that may go back */

struct repair {
    const struct rules *rules;
    const struct tp_space *space;
    double *from;  /* the point that violates */
    double *goal;  /* the nearest that holds */
    double *trial; /* in hand */
    double best;   /* distance of the goal */
};

static bool
is_active(const struct tp_dim *d, const double *x)
{
    return d->parent == TP_NO_PARENT ||
           x[d->parent] == (double)d->parent_choice;
}

/* In units of the range, or of sigma; integers as numbers. */
static double
scale(const struct tp_dim *d)
{
    double width = d->flags & TP_DIM_NORMAL ? d->sigma : d->high - d->low;

    return width > 0 ? width : 1;
}

static double
distance(const struct repair *r, const double *x)
{
    double sum = 0, step;

    for (size_t i = 0; i < r->space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(r->space, i);
        bool a = is_active(d, r->from), b = is_active(d, x);

        if (!a && !b)
            continue;
        step = 1;
        if (a && b && d->kind == TP_CHOICE)
            step = r->from[i] != x[i];
        else if (a && b)
            step = (r->from[i] - x[i]) / scale(d);
        sum += step * step;
    }
    return sum;
}

static void
consider(struct repair *r, const double *x)
{
    double d = distance(r, x);

    if (!(d < r->best))
        return;
    r->best = d;
    memcpy(r->goal, x, r->space->n_dims * sizeof *x);
}

/* Draws of their own: a tuner's ids are below 2^40. */
static bool
find_goal(struct repair *r, const struct known *known, uint64_t id,
          uint64_t draws)
{
    const struct tp_host *host = r->rules->host;
    size_t hits = 0;

    r->best = INFINITY;
    for (size_t i = 0; i < known->n; i++)
        if (rules_broken(r->rules, known->points[i]) == NULL)
            consider(r, known->points[i]);
    for (uint64_t k = 0; k < draws && hits < HITS_MAX; k++) {
        tp_sample(host, ((uint64_t)1 << 63) | ((id << 24) ^ k), r->trial);
        if (rules_broken(r->rules, r->trial) != NULL)
            continue;
        hits++;
        consider(r, r->trial);
    }
    return r->best < INFINITY;
}

/* The point at this part of the way from where it was (0) to the goal (1),
 * with the goal's choices. */
static bool
holds_at(struct repair *r, double part)
{
    for (size_t i = 0; i < r->space->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(r->space, i);

        r->trial[i] = r->goal[i];
        if (!(d->flags & TP_DIM_INDEX) && part < 1 && is_active(d, r->goal) &&
            is_active(d, r->from))
            r->trial[i] = r->from[i] * (1 - part) + r->goal[i] * part;
    }
    return rules_broken(r->rules, r->trial) == NULL;
}

/* The part nearest to 0 that holds: the first that bisection meets. */
static void
move_numbers(struct repair *r)
{
    double low = 0, high = 1, part;

    if (holds_at(r, 0))
        return;
    for (int i = 0; i < HALVINGS; i++) {
        part = low + (high - low) / 2;
        if (holds_at(r, part))
            high = part;
        else
            low = part;
    }
    holds_at(r, high);
}

static bool
has_children(const struct tp_space *space, size_t i)
{
    return i + 1 < space->n_dims && TP_DIM(space, i + 1)->parent == i;
}

/* Integers halfway, too: from the goal's towards the one that there was. */
static void
restore_one(struct repair *r, size_t i)
{
    const struct tp_dim *d = TP_DIM(r->space, i);
    double bad = r->from[i], good = r->trial[i], middle;

    r->trial[i] = bad;
    if (rules_broken(r->rules, r->trial) == NULL)
        return;
    while (d->kind == TP_RANDINT && fabs(good - bad) > 1) {
        middle = (double)(int64_t)((good + bad) / 2);
        r->trial[i] = middle;
        if (rules_broken(r->rules, r->trial) == NULL)
            good = middle;
        else
            bad = middle;
    }
    r->trial[i] = good;
}

static void
restore_indices(struct repair *r)
{
    size_t tried = 0;

    for (size_t i = 0; i < r->space->n_dims && tried < RESTORED_MAX; i++) {
        const struct tp_dim *d = TP_DIM(r->space, i);

        if (!(d->flags & TP_DIM_INDEX) || !is_active(d, r->trial) ||
            !is_active(d, r->from) || r->from[i] == r->trial[i] ||
            has_children(r->space, i))
            continue;
        restore_one(r, i);
        tried++;
    }
}

int
repair_point(const struct rules *rules, const struct known *known, uint64_t id,
             uint64_t draws, double *x)
{
    size_t n = rules->space->n_dims;
    double *room = malloc((2 * n + 1) * sizeof *room);
    struct repair r = {rules, rules->space, x, room, NULL, 0};
    int rc = 0;

    if (room == NULL)
        return -1;
    r.trial = room + n;
    if (find_goal(&r, known, id, draws)) {
        move_numbers(&r);
        restore_indices(&r);
        memcpy(x, r.trial, n * sizeof *x);
        rc = 1;
    }
    free(room);
    return rc;
}
