/* SPDX-License-Identifier: MIT */
#include "cmaes/cmaes.h"

#include "cmaes/axis.h"
#include "elementary.h"
#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- points ---- */

int
cmaes_point_init(const struct cmaes *c, struct cmaes_point *p)
{
    memset(p, 0, sizeof *p);
    p->u = calloc(c->n_line + 1, sizeof *p->u);
    p->pick = calloc(c->n_pick + 1, sizeof *p->pick);
    if (p->u == NULL || p->pick == NULL) {
        cmaes_point_fini(p);
        return -1;
    }
    p->id = CMAES_NO_ID;
    p->born = c->generation;
    p->era = c->restart.era;
    return 0;
}

void
cmaes_point_fini(struct cmaes_point *p)
{
    free(p->u);
    free(p->pick);
    p->u = NULL;
    p->pick = NULL;
}

int
cmaes_point_copy(const struct cmaes *c, const struct cmaes_point *p,
                 struct cmaes_point *out)
{
    if (cmaes_point_init(c, out) != 0)
        return -1;
    memcpy(out->u, p->u, c->n_line * sizeof *out->u);
    memcpy(out->pick, p->pick, c->n_pick * sizeof *out->pick);
    out->class = p->class;
    out->value = p->value;
    return 0;
}

bool
cmaes_point_is_better(const struct cmaes_point *a, const struct cmaes_point *b)
{
    if (a->class != b->class)
        return a->class < b->class;
    return a->class != CMAES_FAILED && a->value < b->value;
}

int
cmaes_points_insert(struct cmaes_points *list, size_t at, struct cmaes_point *p)
{
    if (GROW(list->at, list->n, list->room) != 0) {
        cmaes_point_fini(p);
        return -1;
    }
    memmove(&list->at[at + 1], &list->at[at],
            (list->n - at) * sizeof *list->at);
    list->at[at] = *p;
    list->n++;
    p->u = NULL;
    p->pick = NULL;
    return 0;
}

/* The point's memory is the caller's. */
static void
cmaes_points_remove(struct cmaes_points *list, size_t at)
{
    list->n--;
    memmove(&list->at[at], &list->at[at + 1],
            (list->n - at) * sizeof *list->at);
}

void
cmaes_points_clear(struct cmaes_points *list)
{
    for (size_t i = 0; i < list->n; i++)
        cmaes_point_fini(&list->at[i]);
    list->n = 0;
}

bool
cmaes_point_is_active(const struct cmaes *c, const struct cmaes_point *p,
                      size_t dim)
{
    const struct cmaes_dim *d = &c->dims[dim];

    /* A parent with one element is always at its first. */
    while (d->parent != CMAES_NO_PARENT) {
        size_t slot = c->slot[d->parent];
        uint64_t choice = slot == CMAES_FIXED ? 0 : p->pick[slot];

        if (choice != d->parent_choice)
            return false;
        if (slot != CMAES_FIXED)
            return true; /* it would not be picked if it were inactive */
        d = &c->dims[d->parent];
    }
    return true;
}

static double
fixed_value(const struct cmaes_dim *d)
{
    if (d->kind == CMAES_CATEGORY || d->kind == CMAES_ORDER)
        return 0;
    return d->is_normal ? d->mu : d->low;
}

void
cmaes_point_compose(const struct cmaes *c, const struct cmaes_point *p,
                    double *x)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct cmaes_dim *d = &c->dims[i];

        if (!cmaes_point_is_active(c, p, i))
            x[i] = NAN;
        else if (c->slot[i] == CMAES_FIXED)
            x[i] = fixed_value(d);
        else if (d->kind == CMAES_CATEGORY)
            x[i] = (double)p->pick[c->slot[i]];
        else
            x[i] = cmaes_axis_internal(d, p->u[c->slot[i]]);
    }
}

/* What is inactive lies at the mean. */
static void
cmaes_point_read(const struct cmaes *c, struct cmaes_point *p, const double *x)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t slot = c->slot[i];

        if (slot == CMAES_FIXED)
            continue;
        if (c->dims[i].kind == CMAES_CATEGORY)
            p->pick[slot] = isnan(x[i]) ? CMAES_UNPICKED : (uint32_t)x[i];
        else if (isnan(x[i]))
            p->u[slot] = c->gauss.mean[slot];
        else
            p->u[slot] = cmaes_axis_unit(&c->dims[i], x[i]);
    }
}

/* ---- restarts ---- */

#define TOLERANCE_U 1e-9  /* of unit coordinates */
#define TOLERANCE_F 1e-11 /* of the first generation's range of values */

/* Draws of restarts lie beyond those of dimensions. */
#define RESTART_DRAW 0xfffffff0u

/* The bests of the last generations differ by nothing worth it. */
static bool
is_stagnant(const struct cmaes_restart *r)
{
    double low = INFINITY, high = -INFINITY;

    if (r->n_best < r->room)
        return false;
    for (size_t i = 0; i < r->room; i++) {
        low = r->best[i] < low ? r->best[i] : low;
        high = r->best[i] > high ? r->best[i] : high;
    }
    return !(high - low > TOLERANCE_F * r->scale);
}

static bool
is_narrow(const struct cmaes *c)
{
    if (c->n_line == 0)
        return false;
    for (size_t i = 0; i < c->n_line; i++)
        if (cmaes_gauss_deviation(&c->gauss, i) > TOLERANCE_U)
            return false;
    return true;
}

static bool
cmaes_restart_is_due(struct cmaes *c, double best, double worst)
{
    struct cmaes_restart *r = &c->restart;

    if (isfinite(best) && isfinite(worst) && !(r->scale > 0))
        r->scale = worst - best;
    r->best[r->n_best++ % r->room] = best;
    if (c->options.restarts == CMAES_NONE)
        return false;
    return is_stagnant(r) || is_narrow(c);
}

int
cmaes_restart_population(struct cmaes *c, size_t population)
{
    struct cmaes_restart *r = &c->restart;
    size_t n = c->n_line + c->n_pick, room;

    population = population < 2 ? 2 : population;
    room = 10 + (30 * n + population - 1) / population;
    if (grow_to(&r->best, room, sizeof *r->best) != 0)
        return -1;
    c->population = population;
    r->n_best = 0;
    r->room = room;
    return 0;
}

/* The large regime doubles; BIPOP's small one lies between the first and half
 * of the large one, with a step to match (Hansen 2009). */
static size_t
next_population(struct cmaes *c, double *sigma)
{
    struct cmaes_restart *r = &c->restart;
    double first = (double)c->options.population, u, ratio;

    *sigma = c->options.sigma;
    r->is_small = c->options.restarts == CMAES_BIPOP && r->era > 1 &&
                  r->used[1] < r->used[0];
    if (!r->is_small) {
        r->large =
            r->large * 2 < CMAES_POPULATION_MAX ? r->large * 2 : r->large;
        return r->large;
    }
    u = cmaes_uniform(c, RESTART_DRAW, 0);
    ratio = 0.5 * (double)r->large / first;
    *sigma *=
        num_exp(-2 * 2.302585092994046 * cmaes_uniform(c, RESTART_DRAW, 1));
    return (size_t)(first * num_exp(u * u * num_log(ratio)));
}

int
cmaes_restart(struct cmaes *c, bool grows)
{
    struct cmaes_restart *r = &c->restart;
    double sigma;
    size_t population = c->population;

    c->draws++;
    c->past.stall = 0;
    c->past.is_given_up = false;
    r->era++;
    sigma = c->options.sigma;
    if (grows)
        population = next_population(c, &sigma);
    if (cmaes_restart_population(c, population) != 0)
        return -1;
    cmaes_points_clear(&c->arrived);
    cmaes_gauss_reset(&c->gauss, sigma);
    cmaes_categories_reset(&c->categories);
    for (size_t i = 0; i < c->n_line; i++)
        c->gauss.mean[i] = cmaes_uniform(c, (uint32_t)c->line[i], 0);
    cmaes_margins(c);
    return 0;
}

/* ---- scores ---- */

/* DESIGN
 *
 * Where the model chooses, its logarithm of the expected improvement; where
 * the distribution does, how likely it draws the point.  The model's length
 * scales climb with every result that is asked for; whoever only scores sees
 * them climb all at once, and then they are put back. */

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

/* ---- generations ---- */

/* DESIGN
 *
 * Results are taken as they come: when as many have arrived as a generation
 * has points the distribution moves, whether they were drawn from it or from
 * an earlier one.  So nothing waits for a trial that never ends, and what
 * arrives late still counts; its step is shortened to a length that could
 * have been drawn (N. Hansen, "Injecting External Solutions Into CMA-ES",
 * arXiv:1110.4181, 2011).  What was drawn before a restart is only
 * remembered. */

/* The share of the points that leaves the cells of the mean, at least. */
#define SEEN_ELSEWHERE 0.73

static int
compare(const void *va, const void *vb)
{
    const struct cmaes_point *a = va, *b = vb;

    if (cmaes_point_is_better(a, b) || cmaes_point_is_better(b, a))
        return cmaes_point_is_better(a, b) ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Equal results have equal weights.  When nearly all are equally good the
 * negative weights among theirs outweigh the positive ones, and there would be
 * nothing to move to: then they share the positive ones, whose sum is 1. */
static void
level_ties(const struct cmaes_points *list, double *w)
{
    for (size_t from = 0, end; from < list->n; from = end) {
        double sum = w[from];

        for (end = from + 1; end < list->n; end++) {
            if (cmaes_point_is_better(&list->at[from], &list->at[end]))
                break;
            sum += w[end];
        }
        if (from == 0 && !(sum > 0))
            sum = 1;
        for (size_t i = from; i < end; i++)
            w[i] = sum / (double)(end - from);
    }
}

/* The point's step from the mean, in units of sigma. */
static void
step_of(const struct cmaes *c, const struct cmaes_point *p, double *y)
{
    const struct cmaes_gauss *g = &c->gauss;
    double n = (double)c->n_line, most = num_sqrt(n) + 2 * n / (n + 2);
    double sum = 0;

    for (size_t i = 0; i < c->n_line; i++)
        y[i] = (p->u[i] - g->mean[i]) / (g->sigma * c->stretch[i]);
    if (p->born == c->generation && p->id != CMAES_NO_ID)
        return;
    cmaes_gauss_whiten(g, y, c->z);
    for (size_t i = 0; i < c->n_line; i++)
        sum += c->z[i] * c->z[i];
    sum = num_sqrt(sum);
    for (size_t i = 0; i < c->n_line && sum > most; i++)
        y[i] *= most / sum;
}

/* What the mean moves by: each parameter by those that had it. */
static void
shift_of(const struct cmaes *c, const double *y, const double *w, double *shift)
{
    const struct cmaes_gauss *g = &c->gauss;

    for (size_t i = 0; i < c->n_line; i++) {
        double sum = 0;

        for (size_t k = 0; k < c->arrived.n; k++)
            if (w[k] > 0 &&
                cmaes_point_is_active(c, &c->arrived.at[k], c->line[i]))
                sum += w[k] * y[k * c->n_line + i];
        shift[i] = sum * g->sigma * c->stretch[i];
    }
}

static void
move_categories(struct cmaes *c, const double *w, uint32_t *picks)
{
    for (size_t k = 0; k < c->arrived.n; k++)
        memcpy(picks + k * c->n_pick, c->arrived.at[k].pick,
               c->n_pick * sizeof *picks);
    cmaes_categories_update(&c->categories, picks, w, c->arrived.n);
}

/* Moves the distribution to the ranked points. */
static int
move(struct cmaes *c)
{
    size_t n = c->n_line, n_points = c->arrived.n;
    double *w = calloc(n_points + n + n_points * n + 1, sizeof *w);
    uint32_t *picks = calloc(n_points * c->n_pick + 1, sizeof *picks);
    double *shift, *y;
    int rc = -1;

    if (w == NULL || picks == NULL)
        goto out;
    shift = w + n_points;
    y = shift + n;
    cmaes_gauss_weights(n, n_points, w);
    level_ties(&c->arrived, w);
    for (size_t k = 0; k < n_points; k++)
        step_of(c, &c->arrived.at[k], y + k * n);
    shift_of(c, y, w, shift);
    cmaes_gauss_update(&c->gauss, y, w, n_points, shift);
    for (size_t k = 0; k < n_points; k++)
        if (w[k] < 0)
            w[k] = 0;
    move_categories(c, w, picks);
    cmaes_margins(c);
    rc = 0;
out:
    free(w);
    free(picks);
    return rc;
}

static void
margin(struct cmaes *c, size_t i, double least)
{
    struct cmaes_gauss *g = &c->gauss;
    const struct cmaes_dim *d = &c->dims[c->line[i]];
    double deviation, low, high, need;

    g->mean[i] = cmaes_axis_clip(d, g->mean[i]);
    c->stretch[i] = 1;
    if (!cmaes_axis_has_cells(d) ||
        !cmaes_axis_cell(d, g->mean[i], &low, &high))
        return;
    low = g->mean[i] - low;
    high = high - g->mean[i];
    deviation = cmaes_gauss_deviation(g, i);
    if (isinf(low) || isinf(high))
        need = (isinf(low) ? high : low) / -num_normal_quantile(least);
    else
        need = (low > high ? low : high) / -num_normal_quantile(least / 2);
    if (deviation < need && deviation > 0)
        c->stretch[i] = need / deviation;
}

void
cmaes_margins(struct cmaes *c)
{
    size_t n = c->n_pick;
    double least;

    for (size_t i = 0; i < c->n_line; i++)
        n += cmaes_axis_has_cells(&c->dims[c->line[i]]);
    /* 1 - 0.73^(1/n) */
    least = n > 0 ? 1 - num_exp(num_log(SEEN_ELSEWHERE) / (double)n) : 0;
    for (size_t i = 0; i < c->n_line; i++)
        margin(c, i, least);
    c->categories.margin = least;
}

/* Takes p.  -1: out of memory. */
static int
cmaes_arrive(struct cmaes *c, struct cmaes_point *p)
{
    const struct cmaes_points *list = &c->arrived;
    double best, worst;
    int rc = 0;

    if (p->class == CMAES_FINAL && p->value < c->best)
        c->best = p->value;
    if (p->era != c->restart.era) {
        cmaes_point_fini(p);
        return 0;
    }
    p->order = list->n;
    if (cmaes_points_insert(&c->arrived, list->n, p) != 0)
        return -1;
    if (list->n < c->population)
        return 0;
    qsort(c->arrived.at, list->n, sizeof *list->at, compare);
    best = list->at[0].class == CMAES_FAILED ? INFINITY : list->at[0].value;
    worst = list->at[list->n - 1].class == CMAES_FAILED
                ? INFINITY
                : list->at[list->n - 1].value;
    /* Nothing is learnt from results that are all the same. */
    if (cmaes_point_is_better(&list->at[0], &list->at[list->n - 1]))
        rc = move(c);
    c->generation++;
    c->restart.used[c->restart.is_small] += list->n;
    cmaes_points_clear(&c->arrived);
    if (rc == 0 && cmaes_restart_is_due(c, best, worst))
        rc = cmaes_restart(c, true);
    return rc;
}

/* ---- the search ---- */

/* Known points drawn in a row before the search starts anew; and how often it
 * does before one is given out again. */
#define REPEATS 200
#define ANEW 3

static int
number_dims(struct cmaes *c, size_t *counts)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct cmaes_dim *d = &c->dims[i];

        c->slot[i] = CMAES_FIXED;
        if (!cmaes_axis_is_free(d))
            continue;
        if (d->kind != CMAES_CATEGORY) {
            c->slot[i] = c->n_line;
            c->line[c->n_line++] = i;
        } else if (d->n_choices < CMAES_UNPICKED) {
            c->slot[i] = c->n_pick;
            counts[c->n_pick] = (size_t)d->n_choices;
            c->category[c->n_pick++] = i;
        }
    }
    return 0;
}

static int
allocate(struct cmaes *c, const struct cmaes_dim *dims, size_t n)
{
    size_t *counts = calloc(n + 1, sizeof *counts);
    int rc = -1;

    c->n = n;
    c->dims = malloc((n + 1) * sizeof *c->dims);
    c->slot = calloc(n + 1, sizeof *c->slot);
    c->line = calloc(n + 1, sizeof *c->line);
    c->category = calloc(n + 1, sizeof *c->category);
    if (counts == NULL || c->dims == NULL || c->slot == NULL ||
        c->line == NULL || c->category == NULL)
        goto out;
    if (n > 0)
        memcpy(c->dims, dims, n * sizeof *dims);
    number_dims(c, counts);
    c->stretch = calloc(c->n_line + 1, sizeof *c->stretch);
    c->z = calloc(c->n_line + 1, sizeof *c->z);
    if (c->stretch != NULL && c->z != NULL &&
        cmaes_gauss_init(&c->gauss, c->n_line) == 0 &&
        cmaes_categories_init(&c->categories, counts, c->n_pick, 0) == 0)
        rc = 0;
out:
    free(counts);
    return rc;
}

struct cmaes *
cmaes_new(const struct cmaes_dim *dims, size_t n,
          const struct cmaes_options *options,
          const struct cmaes_services *services)
{
    struct cmaes *c = calloc(1, sizeof *c);
    size_t n_free;

    if (c == NULL)
        return NULL;
    c->options = *options;
    c->services = *services;
    c->best = INFINITY;
    if (allocate(c, dims, n) != 0)
        goto fail;
    n_free = c->n_line + c->n_pick;
    if (c->options.population == 0)
        c->options.population =
            4 + (size_t)(3 * num_log((double)(n_free > 0 ? n_free : 1)));
    c->restart.large = c->options.population;
    if (cmaes_restart_population(c, c->options.population) != 0)
        goto fail;
    cmaes_gauss_reset(&c->gauss, c->options.sigma);
    cmaes_margins(c);
    c->past.is_used =
        options->surrogate && n_free > 0 && n_free <= CMAES_MODEL_DIMS_MAX;
    if (c->past.is_used &&
        cmaes_model_init(&c->past.model, c->n_line, n_free,
                         CMAES_MODEL_BEST + CMAES_MODEL_NEW +
                             CMAES_MODEL_PENDING + CMAES_MODEL_FAILED) != 0)
        goto fail;
    return c;
fail:
    cmaes_free(c);
    return NULL;
}

void
cmaes_free(struct cmaes *c)
{
    if (c == NULL)
        return;
    cmaes_points_clear(&c->pending);
    cmaes_points_clear(&c->arrived);
    cmaes_points_clear(&c->warm);
    free(c->pending.at);
    free(c->arrived.at);
    free(c->warm.at);
    cmaes_gauss_fini(&c->gauss);
    cmaes_categories_fini(&c->categories);
    cmaes_known_fini(&c->known);
    cmaes_points_clear(&c->past.points);
    free(c->past.points.at);
    cmaes_model_fini(&c->past.model);
    free(c->restart.best);
    free(c->stretch);
    free(c->z);
    free(c->dims);
    free(c->slot);
    free(c->line);
    free(c->category);
    free(c);
}

/* Where the id is among the pending ones, or belongs. */
static size_t
find(const struct cmaes *c, uint64_t id)
{
    size_t low = 0, high = c->pending.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->pending.at[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
is_pending(const struct cmaes *c, size_t at, uint64_t id)
{
    return id != CMAES_NO_ID && at < c->pending.n && c->pending.at[at].id == id;
}

/* The fact about x; NULL: nothing is known.  key: 1 when it has one. */
static struct cmaes_fact *
fact_of(const struct cmaes *c, const double *x, struct cmaes_fact *key)
{
    *key = (struct cmaes_fact){.class = -1};
    if (c->services.key(c->services.ctx, x, key->key) != 0)
        return NULL;
    return cmaes_known_find(&c->known, key->key);
}

/* A known result moves the distribution without a trial. */
static int
repeat(struct cmaes *c, const struct cmaes_point *p,
       const struct cmaes_fact *fact)
{
    struct cmaes_point copy;

    c->repeated++;
    if (fact->class < 0)
        return 0;
    if (cmaes_point_copy(c, p, &copy) != 0)
        return -1;
    copy.id = 0;
    copy.born = p->born;
    copy.class = (enum cmaes_class)fact->class;
    copy.value = fact->value;
    return cmaes_arrive(c, &copy);
}

/* Draws until something new comes. */
static int
draw_new(struct cmaes *c, struct cmaes_point *p, double *x,
         struct cmaes_fact *key)
{
    size_t anew = 0, repeats = 0;

    c->repeated = 0;
    for (;;) {
        const struct cmaes_fact *fact;

        if (repeats > 0 || !cmaes_screen(c, p))
            cmaes_sample(c, p);
        cmaes_point_compose(c, p, x);
        fact = fact_of(c, x, key);
        if (fact == NULL)
            return 0;
        if (++repeats < REPEATS) {
            if (repeat(c, p, fact) != 0)
                return -1;
            continue;
        }
        if (anew++ == ANEW || c->options.restarts == CMAES_NONE)
            return 0;
        repeats = 0;
        if (cmaes_restart(c, false) != 0)
            return -1;
    }
}

int
cmaes_ask(struct cmaes *c, uint64_t id, double *x)
{
    struct cmaes_point p;
    struct cmaes_fact key;
    size_t at = find(c, id);

    if (is_pending(c, at, id)) { /* asked for again */
        cmaes_point_fini(&c->pending.at[at]);
        cmaes_points_remove(&c->pending, at);
    }
    if (!c->has_begun && cmaes_warm_start(c) != 0)
        return -1;
    c->has_begun = true;
    if (cmaes_point_init(c, &p) != 0)
        return -1;
    if (draw_new(c, &p, x, &key) != 0 ||
        cmaes_known_put(&c->known, &key) != 0) {
        cmaes_point_fini(&p);
        return -1;
    }
    p.id = id;
    return cmaes_points_insert(&c->pending, find(c, id), &p);
}

static int
remember(struct cmaes *c, const double *x, enum cmaes_class class, double value)
{
    struct cmaes_fact key, *fact = fact_of(c, x, &key);

    key.class = (int64_t) class;
    key.value = value;
    if (fact != NULL) {
        fact->class = key.class;
        fact->value = value;
        return 0;
    }
    return cmaes_known_put(&c->known, &key);
}

/* A point from outside: before the first ask it says where to begin, later it
 * counts when it is better than all. */
static int
take_in(struct cmaes *c, const double *x, enum cmaes_class class, double value)
{
    struct cmaes_point p;

    if (cmaes_point_init(c, &p) != 0)
        return -1;
    cmaes_point_read(c, &p, x);
    p.class = class;
    p.value = value;
    if (cmaes_past_add(c, &p) != 0) {
        cmaes_point_fini(&p);
        return -1;
    }
    if (c->has_begun && class == CMAES_FINAL && value < c->best)
        return cmaes_arrive(c, &p);
    if (c->has_begun) {
        cmaes_point_fini(&p);
        return 0;
    }
    return cmaes_points_insert(&c->warm, c->warm.n, &p);
}

static bool
is_equal(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

int
cmaes_tell(struct cmaes *c, uint64_t id, const double *x,
           enum cmaes_class class, double value)
{
    struct cmaes_point p;
    size_t at = find(c, id);
    double *own;
    bool is_same;

    if (!isfinite(value))
        class = CMAES_FAILED;
    if (remember(c, x, class, value) != 0)
        return -1;
    if (!is_pending(c, at, id))
        return take_in(c, x, class, value);
    own = calloc(c->n + 1, sizeof *own);
    if (own == NULL)
        return -1;
    p = c->pending.at[at];
    cmaes_points_remove(&c->pending, at);
    cmaes_point_compose(c, &p, own);
    is_same = is_equal(own, x, c->n);
    free(own);
    if (!is_same) {
        cmaes_point_fini(&p);
        return take_in(c, x, class, value);
    }
    p.class = class;
    p.value = value;
    if (cmaes_past_add(c, &p) != 0) {
        cmaes_point_fini(&p);
        return -1;
    }
    return cmaes_arrive(c, &p);
}

static int
remember_failure(struct cmaes *c, const struct cmaes_point *p)
{
    double *x = calloc(c->n + 1, sizeof *x);
    int rc = -1;

    if (x != NULL) {
        cmaes_point_compose(c, p, x);
        rc = remember(c, x, CMAES_FAILED, 0);
    }
    free(x);
    return rc;
}

int
cmaes_lost(struct cmaes *c, uint64_t id, bool failed)
{
    size_t at = find(c, id);
    struct cmaes_point p;

    if (!is_pending(c, at, id))
        return 0;
    p = c->pending.at[at];
    cmaes_points_remove(&c->pending, at);
    p.class = CMAES_FAILED;
    if (failed && remember_failure(c, &p) != 0) {
        cmaes_point_fini(&p);
        return -1;
    }
    if (failed && cmaes_past_add(c, &p) == 0)
        return cmaes_arrive(c, &p);
    cmaes_point_fini(&p);
    return 0;
}

struct cmaes_story
cmaes_story(const struct cmaes *c)
{
    return (struct cmaes_story){
        .generation = c->generation,
        .restart = c->restart.era,
        .repeated = c->repeated,
        .population = c->population,
        .arrived = c->arrived.n,
        .modelled = c->past.model.n_fit,
        .sigma = c->gauss.sigma,
        .gain = c->gain,
    };
}
