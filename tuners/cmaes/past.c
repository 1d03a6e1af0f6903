/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * The model learns from the best results and from the newest, so that its
 * cost is bounded.  Values count as they are up to LABELS_BEND times as far
 * from the best as the median is, logarithmically beyond: one bad result must
 * not make all the others alike.  Failures say where trials fail, and nothing
 * of values.
 */
#include "cmaes/cmaes.h"

#include "cmaes/axis.h"
#include "cmaes/labels.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS 0.01
#define WINDOW 512 /* newest results that are looked through */

/* The first result that is new enough to be looked for. */
static size_t
window(const struct cmaes_past *past)
{
    return past->points.n > WINDOW ? past->points.n - WINDOW : 0;
}

struct row {
    size_t number;
    const struct cmaes_point *p;
};

/* Whether it has a value that counts. */
static bool
is_valued(const struct cmaes_point *p)
{
    return p->class != CMAES_FAILED && isfinite(p->value);
}

static void
note_best(struct cmaes_past *past, size_t number)
{
    const struct cmaes_point *points = past->points.at;
    size_t at = past->n_best;

    while (at > 0 &&
           cmaes_point_is_better(&points[number], &points[past->best[at - 1]]))
        at--;
    if (at == CMAES_MODEL_BEST)
        return;
    if (past->n_best < CMAES_MODEL_BEST)
        past->n_best++;
    memmove(&past->best[at + 1], &past->best[at],
            (past->n_best - 1 - at) * sizeof *past->best);
    past->best[at] = number;
}

/* How long ago the best result became better by a hundredth of what the good
 * ones differ by. */
static void
note_progress(struct cmaes_past *past, const struct cmaes_point *p)
{
    const struct cmaes_point *points = past->points.at;
    double best, middle;

    past->stall++;
    if (p->class != CMAES_FINAL)
        return;
    if (past->n_best == 0) {
        past->stall = 0;
        return;
    }
    best = points[past->best[0]].value;
    middle = points[past->best[past->n_best / 2]].value;
    if (p->value < best - PROGRESS * (middle - best))
        past->stall = 0;
}

int
cmaes_past_add(struct cmaes *c, const struct cmaes_point *p)
{
    struct cmaes_past *past = &c->past;
    struct cmaes_point copy;

    if (!past->is_used)
        return 0;
    note_progress(past, p);
    if (cmaes_point_copy(c, p, &copy) != 0 ||
        cmaes_points_insert(&past->points, past->points.n, &copy) != 0)
        return -1;
    if (is_valued(&past->points.at[past->points.n - 1]))
        note_best(past, past->points.n - 1);
    past->is_stale = true;
    return 0;
}

void
cmaes_past_features(const struct cmaes *c, const struct cmaes_point *p,
                    double *x)
{
    for (size_t i = 0; i < c->n_line; i++)
        x[i] = cmaes_point_is_active(c, p, c->line[i])
                   ? cmaes_axis_centre(&c->dims[c->line[i]], p->u[i])
                   : NAN;
    for (size_t i = 0; i < c->n_pick; i++)
        x[c->n_line + i] =
            p->pick[i] == CMAES_UNPICKED ? NAN : (double)p->pick[i];
}

static bool
is_among_best(const struct cmaes_past *past, size_t number)
{
    for (size_t i = 0; i < past->n_best; i++)
        if (past->best[i] == number)
            return true;
    return false;
}

static int
compare(const void *va, const void *vb)
{
    const struct row *a = va, *b = vb;

    if (cmaes_point_is_better(a->p, b->p))
        return -1;
    if (cmaes_point_is_better(b->p, a->p))
        return 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* What the model gets, best first. */
static size_t
choose(const struct cmaes_past *past, struct row *rows)
{
    size_t n = 0, first = window(past);

    for (size_t i = 0; i < past->n_best; i++)
        rows[n++].number = past->best[i];
    for (size_t i = past->points.n;
         i-- > first && n < past->n_best + CMAES_MODEL_NEW;)
        if (is_valued(&past->points.at[i]) && !is_among_best(past, i))
            rows[n++].number = i;
    for (size_t i = 0; i < n; i++)
        rows[i].p = &past->points.at[rows[i].number];
    qsort(rows, n, sizeof *rows, compare);
    return n;
}

/* Values as the model sees them: mean 0, variance 1.  -1: differences are
 * beyond the doubles. */
static int
scale(const struct row *rows, size_t n, double *y)
{
    double best = INFINITY, unit;

    for (size_t i = 0; i < n; i++)
        best = rows[i].p->value < best ? rows[i].p->value : best;
    unit = rows[n / 2].p->value - best;
    for (size_t i = 0; i < n; i++) {
        double far = (rows[i].p->value - best) / (unit > 0 ? unit : 1);

        if (!isfinite(far))
            return -1;
        y[i] = labels_bend(far);
    }
    labels_standardise(y, n);
    return 0;
}

/* Few results want many steps, and can afford them. */
static size_t
steps_for(size_t n)
{
    return n < 40 ? 4 : n < 80 ? 2 : 1;
}

/* The rows behind those with results: what is out, then what failed. */
static int
put_rest(struct cmaes *c)
{
    const struct cmaes_points *points = &c->past.points;
    struct cmaes_model *m = &c->past.model;
    double *x = m->x + m->n_fit * m->n_feature;
    size_t n_out = 0, n_failed = 0, first = window(&c->past);

    for (size_t i = c->pending.n; i-- > 0 && n_out < CMAES_MODEL_PENDING;) {
        cmaes_past_features(c, &c->pending.at[i], x + n_out * m->n_feature);
        n_out++;
    }
    x += n_out * m->n_feature;
    for (size_t i = points->n; i-- > first && n_failed < CMAES_MODEL_FAILED;)
        if (!is_valued(&points->at[i])) {
            cmaes_past_features(c, &points->at[i], x + n_failed * m->n_feature);
            n_failed++;
        }
    if (n_out + n_failed == 0)
        return 0;
    return cmaes_model_believe(m, n_out, n_failed);
}

int
cmaes_past_fit(struct cmaes *c)
{
    struct cmaes_past *past = &c->past;
    struct cmaes_model *m = &past->model;
    struct row rows[CMAES_MODEL_BEST + CMAES_MODEL_NEW];
    size_t steps;

    m->n = choose(past, rows);
    steps = past->is_stale ? steps_for(m->n) : 0;
    past->is_stale = false;
    for (size_t i = 0; i < m->n; i++)
        cmaes_past_features(c, rows[i].p, m->x + i * m->n_feature);
    if (scale(rows, m->n, m->y) != 0 || cmaes_model_fit(m, steps) != 0)
        return -1;
    return put_rest(c);
}
