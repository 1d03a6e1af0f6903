/* SPDX-License-Identifier: MIT */
/* DESIGN
 *
 * All parameters are columns in 0..1: a number one, at the value that a trial
 * gets; a choice one for each element, so that two elements are one apart; what
 * is inactive lies in the middle of its range.
 *
 * The process learns from all results, of many from the best and the newest.
 * They are its rows in the order of their arrival, so that a result is one row
 * more of its factor; behind them lie the trials that are out, of which the
 * process expects what it expects there: they take the doubt from where they
 * are.  Length scales follow when the results have grown by a part; and each
 * time one number that spans decades is seen by its logarithm, or as it is
 * again, and stays so where the results are likelier.
 *
 * Trials that fail teach a second process, of labels, how likely others do:
 * least-squares classification, Rasmussen and Williams, section 6.5.
 *
 * Of several values each has a process, all with the same rows, and the gain is
 * that of volume.h.
 *
 * An ask is a contest: points drawn from the priors and mutants of the best
 * results are screened; the best of them climb, side by side, along the slope
 * of the gain; with choices or rounded parameters, mutants of the best one
 * follow. */
#include "gp/gp.h"

#include "cmaes/labels.h"
#include "elementary.h"
#include "gp/improvement.h"
#include "grow.h"
#include "keyset/saved.h"
#include "normal.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GP_FIXED ((size_t)-1)
#define ROWS_BEST 200 /* results that the process has, at most */
#define ROWS_NEW 200
#define PENDING_MOST 64 /* and as many that failed */
#define ROOM (ROWS_BEST + ROWS_NEW + 2 * PENDING_MOST)
#define FEASIBLE_ROWS 200 /* the newest */
#define COLUMNS_MOST 2000 /* with more there is no model */
#define ELEMENTS_MOST 64  /* columns of a choice; of more, some share one */
#define LABEL_NOISE (-5)  /* logarithm */
#define CAUTION 16.0  /* power of the probability that a trial does not fail */
#define FAR 100.0     /* ranges away from the middle */
#define WARP_MOST 128 /* results: with more it is known, and dear to try */
#define STEPS 6       /* of the length scales, each time */
#define LOG_SQRT_2PI 0.9189385332046727

#define DRAWN 160
#define NEAR 160
#define PARENTS 5    /* best results that are mutated */
#define CHANGES 2.0  /* parameters of a mutant that change, on average */
#define STEP 0.2     /* of a mutant, at first */
#define STEP_FALLS 7 /* logarithm of how much smaller it becomes */
#define CLIMBS 30
#define CLIMB_STEP 0.02
#define ROUNDS 12 /* of NUM_LANES mutants of the best point */
#define TRIES 100 /* draws for a point that was not tried */

#define FORCED_DRAW 0xfffffff1u /* beyond the numbers of dimensions */
#define BOUNDS 0xfffffff3u

/* Points side by side. */
struct batch {
    double *x;     /* NUM_LANES * n_dims */
    double *c;     /* n_column lanes */
    double *g, *h; /* n_number lanes: slopes of the gains; scratch */
    double *step;  /* as g */
    double *sign;  /* as g: of the slope before */
    double *top;   /* as g: where the gain was greatest */
    double gain[NUM_LANES], most[NUM_LANES];
    size_t n;
};

struct contest {
    struct batch batch;
    double *starts; /* NUM_LANES * n_dims: the best so far, best first */
    double gains[NUM_LANES];
    size_t n_starts;
    double *best; /* n_dims: the best new one */
    double gain;  /* -infinity: none */
    uint64_t id;
    uint32_t draw;
};

/* ---- points ---- */

static void
points_fini(struct gp_points *p)
{
    free(p->at);
    free(p->x);
}

static int
points_add(struct gp_points *p, size_t n_dims, const struct gp_point *point,
           const double *x)
{
    if (p->n == p->room) {
        size_t room = grow_cap(p->room);

        if (grow_to(&p->at, room, sizeof *p->at) != 0 ||
            grow_to(&p->x, room, n_dims * sizeof *p->x) != 0)
            return -1;
        p->room = room;
    }
    p->at[p->n] = *point;
    memcpy(p->x + p->n * n_dims, x, n_dims * sizeof *x);
    p->n++;
    return 0;
}

/* The number of a pending trial, or how many there are. */
static size_t
find(const struct gp *g, uint64_t id)
{
    size_t i = 0;

    while (i < g->pending.n && g->pending.at[i].id != id)
        i++;
    return i;
}

/* False: it was not there. */
static bool
unpend(struct gp *g, uint64_t id)
{
    struct gp_points *p = &g->pending;
    size_t i = find(g, id), d = g->n_dims;

    if (i == p->n)
        return false;
    p->n--;
    memmove(p->at + i, p->at + i + 1, (p->n - i) * sizeof *p->at);
    memmove(p->x + i * d, p->x + (i + 1) * d, (p->n - i) * d * sizeof *p->x);
    return true;
}

/* ---- life ---- */

static bool
is_choice(const struct gp *g, size_t i)
{
    return g->axes[i].kind == CMAES_CATEGORY;
}

static size_t
elements(const struct cmaes_dim *d)
{
    return d->n_choices < ELEMENTS_MOST ? (size_t)d->n_choices : ELEMENTS_MOST;
}

/* Numbers first, as only their columns are climbed. */
static void
lay_out(struct gp *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n_dims; i++) {
        g->column[i] = GP_FIXED;
        if (cmaes_axis_is_free(&g->axes[i]) && !is_choice(g, i))
            g->column[i] = n++;
        g->has_steps = g->has_steps || is_choice(g, i) ||
                       cmaes_axis_has_cells(&g->axes[i]);
    }
    g->n_number = n;
    for (size_t i = 0; i < g->n_dims; i++)
        if (cmaes_axis_is_free(&g->axes[i]) && is_choice(g, i)) {
            g->column[i] = n;
            n += elements(&g->axes[i]);
        }
    g->n_column = n;
}

static int
model_init(const struct gp *g, struct gp_model *m, size_t room)
{
    size_t *group = calloc(g->n_column + 1, sizeof *group), n = 0;

    if (group == NULL)
        return -1;
    for (size_t i = 0; i < g->n_number; i++)
        group[i] = n++;
    for (size_t i = 0; i < g->n_dims; i++) {
        if (g->column[i] == GP_FIXED || !is_choice(g, i))
            continue;
        for (size_t k = 0; k < elements(&g->axes[i]); k++)
            group[g->column[i] + k] = n;
        n++;
    }
    m->rows = calloc(room, sizeof *m->rows);
    if (process_init(&m->process, g->n_column, group, n, room) != 0 ||
        m->rows == NULL)
        return -1;
    return 0;
}

static void
model_fini(struct gp_model *m)
{
    process_fini(&m->process);
    free(m->rows);
}

/* Labels are hardly ever noise, and what looks like it is an edge. */
static int
feasible_init(struct gp *g)
{
    struct process *p = &g->feasible.process;

    if (model_init(g, &g->feasible, FEASIBLE_ROWS) != 0) {
        model_fini(&g->feasible);
        g->feasible = (struct gp_model){.n_rows = 0};
        return -1;
    }
    p->is_sharp = true;
    p->theta[p->n_group + 1] = LABEL_NOISE;
    return 0;
}

/* A continuous parameter that is always there never repeats itself. */
static bool
can_repeat(const struct gp *g)
{
    for (size_t i = 0; i < g->n_dims; i++)
        if (g->axes[i].parent == CMAES_NO_PARENT &&
            g->axes[i].kind == CMAES_REAL && g->column[i] != GP_FIXED)
            return false;
    return true;
}

static size_t
n_theta(const struct gp_model *m)
{
    return 3 * (m->process.n_group + 2);
}

static int
models_init(struct gp *g)
{
    for (size_t k = 0; k < g->n_values; k++)
        if (model_init(g, &g->values[k], ROOM) != 0)
            return -1;
    g->kept = calloc(g->n_values * n_theta(&g->values[0]), sizeof *g->kept);
    if (g->kept == NULL)
        return -1;
    if (g->n_values == 1)
        return 0;
    return volume_init(&g->volume, g->n_values, ROWS_BEST + ROWS_NEW);
}

void
gp_free(struct gp *g)
{
    if (g == NULL)
        return;
    prior_fini(&g->prior);
    free(g->axes);
    free(g->column);
    points_fini(&g->results);
    points_fini(&g->pending);
    for (size_t k = 0; k < g->n_values; k++)
        model_fini(&g->values[k]);
    volume_fini(&g->volume);
    model_fini(&g->feasible);
    keyset_fini(&g->tried);
    free(g->kept);
    free(g->scratch);
    free(g);
}

struct gp *
gp_new(const struct gp_options *options, const struct gp_services *services,
       struct prior *prior, struct cmaes_dim *axes)
{
    struct gp *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->options = *options;
    g->services = *services;
    g->n_dims = prior->n_dims;
    g->n_values = options->n_values > 1 ? options->n_values : 1;
    g->last_id = GP_NO_ID;
    g->column = calloc(g->n_dims + 1, sizeof *g->column);
    if (g->column == NULL) {
        free(g);
        return NULL;
    }
    g->axes = axes;
    lay_out(g);
    g->repeats = can_repeat(g);
    g->has_model = g->n_column > 0 && g->n_column <= COLUMNS_MOST;
    g->scratch =
        calloc((NUM_LANES + 1) * (g->n_dims + 1) +
                   NUM_LANES * (g->n_column + 6 * g->n_number + g->n_dims + 1),
               sizeof *g->scratch);
    if (g->scratch == NULL || (g->has_model && models_init(g) != 0)) {
        g->axes = NULL;
        gp_free(g);
        return NULL;
    }
    g->prior = *prior;
    *prior = (struct prior){0};
    return g;
}

/* ---- rows ---- */

/* Beyond it no place of a normal parameter differs. */
static double
near(double u)
{
    return u < -FAR ? -FAR : u > FAR ? FAR : u;
}

static void
features(const struct gp *g, const double *x, double *c, size_t stride)
{
    for (size_t i = 0; i < g->n_dims; i++) {
        const struct cmaes_dim *d = &g->axes[i];
        double *at = c + g->column[i] * stride;

        if (g->column[i] == GP_FIXED)
            continue;
        if (!is_choice(g, i)) {
            double u = isnan(x[i]) ? 0.5 : cmaes_axis_unit(d, x[i]);

            *at = isnan(x[i]) ? u : near(cmaes_axis_centre(d, u));
            continue;
        }
        for (size_t k = 0; k < elements(d); k++)
            at[k * stride] = 0;
        if (!isnan(x[i]))
            at[((uint64_t)x[i] % ELEMENTS_MOST) * stride] = 0.7071067811865476;
    }
}

static int
compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Of which the results have an order: to be stopped, or to have no value, is
 * the worst. */
static double
worth(const struct gp_point *p)
{
    return p->class == GP_FINAL ? p->value : INFINITY;
}

/* Numbers of the results that have a value, of many the best and the newest;
 * returns how many. */
static size_t
choose(const struct gp *g, size_t *rows, double *sorted)
{
    const struct gp_points *r = &g->results;
    size_t n = 0, valued = r->n - g->n_failed, old;
    size_t ties = valued; /* as good as the last of the best: the first ones */
    double bound = INFINITY;

    if (valued > ROWS_BEST + ROWS_NEW) {
        old = 0;
        for (size_t i = 0; i < r->n; i++)
            if (r->at[i].class != GP_FAILED && old < valued - ROWS_NEW)
                sorted[old++] = worth(&r->at[i]);
        qsort(sorted, old, sizeof *sorted, compare_values);
        bound = sorted[ROWS_BEST - 1];
        ties = 0;
        for (size_t i = 0; i < ROWS_BEST; i++)
            ties += sorted[i] == bound;
    }
    old = 0;
    for (size_t i = 0; i < r->n; i++) {
        bool is_new, is_tie = worth(&r->at[i]) == bound;

        if (r->at[i].class == GP_FAILED)
            continue;
        is_new = valued - ++old < ROWS_NEW;
        if (!is_new && !(is_tie ? ties > 0 : worth(&r->at[i]) < bound))
            continue;
        ties -= !is_new && is_tie;
        rows[n++] = i;
    }
    return n;
}

static double
value_of(const struct gp *g, size_t row, size_t k)
{
    return g->lent == NULL ? g->results.at[row].value
                           : g->lent[row * g->n_values + k];
}

/* Values k as their process sees them.  A trial that was stopped is none of the
 * better half.  -1: differences are beyond the doubles, or, of several values,
 * no trial has ended but by being stopped. */
static int
scale(const struct gp *g, size_t k, double *sorted)
{
    const struct gp_model *m = &g->values[k];
    double *y = m->process.y;
    size_t n = 0;
    double best, middle, worst;

    for (size_t i = 0; i < m->n_rows; i++) {
        const struct gp_point *p = &g->results.at[m->rows[i]];

        if (p->class == GP_FINAL)
            sorted[n++] = value_of(g, m->rows[i], k);
    }
    if (n == 0 && g->n_values > 1)
        return -1;
    qsort(sorted, n, sizeof *sorted, compare_values);
    best = sorted[0];
    middle = sorted[n / 2];
    worst = n > 0 ? sorted[n - 1] : 0;
    for (size_t i = 0; i < m->n_rows; i++) {
        const struct gp_point *p = &g->results.at[m->rows[i]];
        double v = value_of(g, m->rows[i], k);

        if (p->class == GP_STOPPED)
            v = !isfinite(v) ? worst : v < middle ? middle : v;
        v = (v - best) / (middle > best ? middle - best : 1);
        if (!isfinite(v))
            return -1;
        y[i] = labels_bend(v);
    }
    labels_standardise(y, m->n_rows);
    return 0;
}

static void
put_rows(const struct gp *g, struct gp_model *m, size_t first)
{
    struct process *p = &m->process;

    p->n = first;
    for (size_t i = first; i < m->n_rows; i++)
        features(g, g->results.x + m->rows[i] * g->n_dims,
                 p->x + i * p->n_column, 1);
}

/* The process has these rows; of those that it had already its factor stays. */
static void
take_rows(const struct gp *g, struct gp_model *m, const size_t *rows, size_t n)
{
    struct process *p = &m->process;
    size_t same = 0;

    while (same < n && same < m->n_rows && same < p->n &&
           rows[same] == m->rows[same])
        same++;
    memcpy(m->rows, rows, n * sizeof *rows);
    m->n_rows = n;
    p->n_told = n;
    put_rows(g, m, same);
}

/* With the length scales that there are. */
static int
learn(struct gp_model *m)
{
    if (process_extend(&m->process, m->n_rows) != 0)
        return -1;
    process_learn(&m->process, m->n_rows);
    return 0;
}

/* Of n results, whether length scales follow: when a `growth`-th is new. */
static bool
is_due(struct gp_model *m, size_t n, size_t growth)
{
    if (n < m->fit_next)
        return false;
    m->fit_next = n + (n < growth ? 1 : n / growth);
    return true;
}

/* ---- warps ---- */

bool
gp_is_warped(const struct gp *g, size_t dim)
{
    return g->axes[dim].is_warped;
}

static bool
may_warp(const struct gp *g, size_t i)
{
    return g->column[i] < g->n_number && g->axes[i].span >= CMAES_WIDE;
}

/* The number whose turn it is; n_dims: there is none. */
static size_t
next_to_warp(const struct gp *g)
{
    for (size_t n = 1; n <= g->n_dims; n++) {
        size_t i = (g->warp_tried + n) % g->n_dims;

        if (may_warp(g, i))
            return i;
    }
    return g->n_dims;
}

static void
toggle_warp(struct gp *g, size_t i)
{
    g->axes[i].is_warped = !g->axes[i].is_warped;
    for (size_t k = 0; k < g->n_values; k++)
        put_rows(g, &g->values[k], 0);
    g->feasible.n_rows = 0;
}

/* -1: a matrix has no factor. */
static int
fit(struct gp *g, double *posterior)
{
    *posterior = 0;
    for (size_t k = 0; k < g->n_values; k++) {
        if (process_fit(&g->values[k].process, STEPS) != 0)
            return -1;
        *posterior += process_posterior(&g->values[k].process);
    }
    return 0;
}

/* fit(), and the same with a number that may be warped the other way (J. Snoek,
 * K. Swersky, R. Zemel, R. P. Adams, "Input Warping for Bayesian Optimization
 * of Non-Stationary Functions", ICML 2014).  -1: as above. */
static int
fit_and_warp(struct gp *g)
{
    size_t i = next_to_warp(g), n = n_theta(&g->values[0]);
    double straight, *kept = g->kept, other;

    if (fit(g, &straight) != 0)
        return -1;
    if (i == g->n_dims || g->values[0].n_rows > WARP_MOST)
        return 0;
    for (size_t k = 0; k < g->n_values; k++)
        memcpy(kept + k * n, g->values[k].process.theta, n * sizeof *kept);
    g->warp_tried = i;
    toggle_warp(g, i);
    if (fit(g, &other) == 0 && other > straight)
        return 0;
    toggle_warp(g, i);
    for (size_t k = 0; k < g->n_values; k++) {
        memcpy(g->values[k].process.theta, kept + k * n, n * sizeof *kept);
        if (learn(&g->values[k]) != 0)
            return -1;
    }
    return 0;
}

/* After the rows and their values, of n results. */
static int
learn_values(struct gp *g, size_t n, bool may_fit)
{
    bool fits = false;

    for (size_t k = 0; k < g->n_values && may_fit; k++)
        fits = is_due(&g->values[k], n, g->options.growth);
    if (fits)
        return fit_and_warp(g);
    for (size_t k = 0; k < g->n_values; k++)
        if (learn(&g->values[k]) != 0)
            return -1;
    return 0;
}

/* ---- what the processes know ---- */

/* Trials that are out and those that failed, the newest of both, as the process
 * expects them: it has no doubt there that a trial could dispel. */
static int
take_valueless(const struct gp *g, struct process *p)
{
    size_t n = p->n_told, d = g->n_dims, left = PENDING_MOST;

    for (size_t i = g->results.n; i-- > 0 && left > 0;)
        if (g->results.at[i].class == GP_FAILED) {
            features(g, g->results.x + i * d, p->x + n++ * p->n_column, 1);
            left--;
        }
    left = PENDING_MOST;
    for (size_t i = g->pending.n; i-- > 0 && left-- > 0;)
        features(g, g->pending.x + i * d, p->x + n++ * p->n_column, 1);
    return process_extend(p, n);
}

/* The labels of the newest results, 1 or -1, less their mean; where that says
 * that most fail, the rest may do well all the same. */
static int
sync_feasible(struct gp *g, size_t *rows, bool may_fit)
{
    struct gp_model *m = &g->feasible;
    size_t n = g->results.n, first = 0;
    double sum = 0;

    if (n > FEASIBLE_ROWS) {
        first = n - FEASIBLE_ROWS;
        n = FEASIBLE_ROWS;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = first + i;
    take_rows(g, m, rows, n);
    for (size_t i = 0; i < n; i++) {
        m->process.y[i] = g->results.at[rows[i]].class == GP_FAILED ? -1 : 1;
        sum += m->process.y[i];
    }
    g->centre = sum > 0 ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        m->process.y[i] -= g->centre;
    if (may_fit && is_due(m, g->results.n, GP_GROWTH))
        return process_fit(&m->process, STEPS);
    return learn(m);
}

/* Bounds are drawn for each trial: who always may gain something beyond the
 * ends of the front, where processes know least, hardly looks elsewhere. */
static void
draw_bounds(const struct gp *g, struct volume_bound *bounds)
{
    const struct prior_random *r = &g->services.random;
    uint32_t draw = (uint32_t)g->again * 2 * GP_VALUES_MAX;

    for (size_t k = 0; k < g->n_values; k++, draw += 2) {
        bounds[k].reach = r->uniform(r->ctx, g->last_id, BOUNDS, draw);
        bounds[k].is_cut =
            r->uniform(r->ctx, g->last_id, BOUNDS, draw + 1) < 0.5;
    }
}

/* The front as the processes have it, so that lucky results are no part of it.
 */
static void
take_front(struct gp *g, bool for_trial)
{
    const struct gp_model *m = &g->values[0];
    struct volume_bound bounds[GP_VALUES_MAX] = {{.reach = 0}};
    double costs[GP_VALUES_MAX];

    volume_begin(&g->volume);
    for (size_t i = 0; i < m->n_rows; i++) {
        const struct gp_point *p = &g->results.at[m->rows[i]];

        for (size_t k = 0; k < g->n_values; k++)
            costs[k] = process_fitted(&g->values[k].process, i);
        volume_add(&g->volume, costs, p->class == GP_FINAL && p->value < 0);
    }
    if (for_trial)
        draw_bounds(g, bounds);
    volume_close(&g->volume, bounds);
}

static void
take_target(struct gp *g)
{
    const struct gp_model *m = &g->values[0];

    g->target = INFINITY;
    for (size_t i = 0; i < m->n_rows; i++) {
        double v = process_fitted(&m->process, i);

        g->target = v < g->target ? v : g->target;
    }
}

/* The processes know what was told.  *knows: whether that is enough for an
 * answer.  -1: out of memory. */
static int
sync(struct gp *g, bool may_fit, bool *knows)
{
    size_t *rows, n, valued = g->results.n - g->n_failed;
    double *sorted;
    int rc = -1;

    *knows = false;
    if (!g->has_model || valued < 2 || g->results.n < g->options.startup)
        return 0;
    rows = calloc(ROWS_BEST + ROWS_NEW, sizeof *rows);
    sorted = calloc(g->results.n, sizeof *sorted);
    if (rows == NULL || sorted == NULL ||
        (g->n_failed > 0 && g->feasible.rows == NULL && feasible_init(g) != 0))
        goto done;
    rc = 0;
    n = choose(g, rows, sorted);
    for (size_t k = 0; k < g->n_values; k++) {
        take_rows(g, &g->values[k], rows, n);
        if (scale(g, k, sorted) != 0)
            goto done;
    }
    if (learn_values(g, valued, may_fit) != 0)
        goto done;
    if (g->n_values > 1)
        take_front(g, may_fit);
    else
        take_target(g);
    for (size_t k = 0; k < g->n_values; k++)
        if (take_valueless(g, &g->values[k].process) != 0)
            goto done;
    *knows = g->n_failed == 0 || sync_feasible(g, rows, may_fit) == 0;
done:
    free(rows);
    free(sorted);
    return rc;
}

/* ---- the gain ---- */

/* What the mean and the variance of a process do to the gains. */
static void
add_slopes(const struct gp *g, struct batch *b, struct process *p,
           const double *by_mean, const double *by_variance)
{
    process_slopes(p, b->c, g->n_number, by_mean, by_variance, b->h);
    for (size_t i = 0; i < g->n_number * NUM_LANES; i++)
        b->g[i] += b->h[i];
}

/* Adds the logarithm of the probability that the points do not fail, more than
 * once: most regions where trials fail have an edge, where a smooth process
 * expects too much of the other side. */
static void
weigh_feasible(struct gp *g, struct batch *b, bool with_slopes)
{
    struct process *p = &g->feasible.process;
    double mean[NUM_LANES], variance[NUM_LANES];
    double by_mean[NUM_LANES], by_variance[NUM_LANES];

    process_predict(p, b->c, mean, variance);
    for (size_t k = 0; k < NUM_LANES; k++) {
        double v = variance[k] + p->noise, s = num_sqrt(v);
        double z = (mean[k] + g->centre) / s, log_cdf = num_log_normal_cdf(z);
        double slope = num_exp(-0.5 * z * z - LOG_SQRT_2PI - log_cdf);

        b->gain[k] += CAUTION * log_cdf;
        by_mean[k] = CAUTION * slope / s;
        by_variance[k] = -0.5 * CAUTION * slope * z / v;
    }
    if (with_slopes)
        add_slopes(g, b, p, by_mean, by_variance);
}

/* Of each lane, of each process. */
struct belief {
    double mean[NUM_LANES], variance[NUM_LANES];
    double by_mean[NUM_LANES], by_variance[NUM_LANES];
};

static void
weigh_improvement(const struct gp *g, struct batch *b, struct belief *p)
{
    for (size_t k = 0; k < NUM_LANES; k++) {
        double s = num_sqrt(p->variance[k]), slope;
        double z = (g->target - p->mean[k]) / s;

        b->gain[k] = 0.5 * num_log(p->variance[k]) + log_improvement(z, &slope);
        p->by_mean[k] = -slope / s;
        p->by_variance[k] = (1 - slope * z) / (2 * p->variance[k]);
    }
}

static void
weigh_volume(struct gp *g, struct batch *b, struct belief *p)
{
    double mean[GP_VALUES_MAX], variance[GP_VALUES_MAX];
    struct volume_gain gain;

    for (size_t k = 0; k < NUM_LANES; k++) {
        for (size_t i = 0; i < g->n_values; i++) {
            mean[i] = p[i].mean[k];
            variance[i] = p[i].variance[k];
        }
        volume_gain(&g->volume, mean, variance, &gain);
        b->gain[k] = gain.gain;
        for (size_t i = 0; i < g->n_values; i++) {
            p[i].by_mean[k] = gain.by_mean[i];
            p[i].by_variance[k] = gain.by_variance[i];
        }
    }
}

/* Gains of the batch, which has its columns; with slopes in g. */
static void
weigh(struct gp *g, struct batch *b, bool with_slopes)
{
    struct belief beliefs[GP_VALUES_MAX];

    for (size_t i = 0; i < g->n_values; i++)
        process_predict(&g->values[i].process, b->c, beliefs[i].mean,
                        beliefs[i].variance);
    if (g->n_values > 1)
        weigh_volume(g, b, beliefs);
    else
        weigh_improvement(g, b, beliefs);
    memset(b->g, 0, g->n_number * NUM_LANES * sizeof *b->g);
    for (size_t i = 0; i < g->n_values && with_slopes; i++)
        add_slopes(g, b, &g->values[i].process, beliefs[i].by_mean,
                   beliefs[i].by_variance);
    if (g->n_failed > 0)
        weigh_feasible(g, b, with_slopes);
}

static void
put_features(const struct gp *g, struct batch *b)
{
    for (size_t k = 0; k < NUM_LANES; k++)
        features(g, b->x + (k < b->n ? k : 0) * g->n_dims, b->c + k, NUM_LANES);
}

/* Where the first of the batch is. */
static void
tell_story(struct gp *g, struct contest *k)
{
    struct batch *b = &k->batch;
    struct gp_story *s = &g->story;
    double mean[NUM_LANES], variance[NUM_LANES];

    b->n = 1;
    memcpy(b->x, k->best, g->n_dims * sizeof *b->x);
    put_features(g, b);
    *s = (struct gp_story){
        .n_modelled = g->values[0].n_rows,
        .gain = k->gain,
        .best = g->target,
        .feasible = NAN,
    };
    for (size_t i = 0; i < g->n_values; i++) {
        struct process *p = &g->values[i].process;

        process_predict(p, b->c, mean, variance);
        s->mean[i] = mean[0];
        s->deviation[i] = num_sqrt(variance[0]);
        s->noise[i] = num_sqrt(p->noise);
    }
    if (g->n_failed == 0)
        return;
    process_predict(&g->feasible.process, b->c, mean, variance);
    s->feasible =
        num_normal_cdf((mean[0] + g->centre) /
                       num_sqrt(variance[0] + g->feasible.process.noise));
}

/* ---- the contest ---- */

static double
uniform(const struct gp *g, const struct contest *k, uint32_t dim,
        uint32_t draw)
{
    const struct prior_random *r = &g->services.random;

    return r->uniform(r->ctx, k->id, dim, k->draw + draw);
}

static bool
is_new(const struct gp *g, const double *x)
{
    uint64_t key[2];

    return !g->repeats || g->services.key(g->services.ctx, x, key) != 0 ||
           !keyset_has(&g->tried, key);
}

/* At least as wide as a cell, so that it can be left. */
static double
step_at(const struct cmaes_dim *d, double u, double step)
{
    double low, high;

    if (!cmaes_axis_has_cells(d) || !cmaes_axis_cell(d, u, &low, &high) ||
        isinf(low) || isinf(high))
        return step;
    return step > high - low ? step : high - low;
}

/* x: base with a few changes, at least one, and what they bring with them. */
static void
mutate(const struct gp *g, struct contest *k, const double *base, double step,
       double *x)
{
    double active = 0;
    size_t forced;

    k->draw += 4;
    for (size_t i = 0; i < g->n_dims; i++)
        active += g->column[i] != GP_FIXED && !isnan(base[i]);
    forced = (size_t)(uniform(g, k, FORCED_DRAW, 0) * active);
    for (size_t i = 0; i < g->n_dims; i++) {
        const struct cmaes_dim *d = &g->axes[i];
        uint32_t dim = (uint32_t)i;
        bool is_free = g->column[i] != GP_FIXED && !isnan(base[i]);
        bool is_forced = is_free && forced-- == 0;

        x[i] = NAN;
        if (!prior_active(&g->prior, x, i))
            continue;
        x[i] = base[i];
        if (isnan(base[i]))
            x[i] = prior_draw(&g->prior.dims[i], uniform(g, k, dim, 1));
        else if (is_free &&
                 (is_forced || uniform(g, k, dim, 0) < CHANGES / active)) {
            double u = uniform(g, k, dim, 1);

            if (is_choice(g, i)) {
                x[i] = (double)prior_index(u, d->n_choices);
            } else {
                double at = near(cmaes_axis_unit(d, base[i]));

                at += step_at(d, at, step) * prior_normal(u);
                x[i] = cmaes_axis_internal(d, cmaes_axis_clip(d, at));
            }
        }
    }
}

/* Notes the best one that is new. */
static void
compete(const struct gp *g, struct contest *k)
{
    const struct batch *b = &k->batch;

    for (size_t i = 0; i < b->n; i++)
        if (b->gain[i] > k->gain && is_new(g, b->x + i * g->n_dims)) {
            k->gain = b->gain[i];
            memcpy(k->best, b->x + i * g->n_dims, g->n_dims * sizeof *k->best);
        }
}

/* Notes the best ones, whence others climb. */
static void
note_starts(const struct gp *g, struct contest *k)
{
    const struct batch *b = &k->batch;
    size_t d = g->n_dims;

    for (size_t i = 0; i < b->n; i++) {
        size_t at = k->n_starts;

        while (at > 0 && b->gain[i] > k->gains[at - 1])
            at--;
        if (at == NUM_LANES)
            continue;
        k->n_starts += k->n_starts < NUM_LANES;
        memmove(k->gains + at + 1, k->gains + at,
                (k->n_starts - at - 1) * sizeof *k->gains);
        memmove(k->starts + (at + 1) * d, k->starts + at * d,
                (k->n_starts - at - 1) * d * sizeof *k->starts);
        k->gains[at] = b->gain[i];
        memcpy(k->starts + at * d, b->x + i * d, d * sizeof *k->starts);
    }
}

/* The newest of the results that count as the front. */
static size_t
choose_front(const struct gp *g, size_t *parents)
{
    const struct gp_model *m = &g->values[0];
    double least = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < m->n_rows; i++) {
        double v = g->results.at[m->rows[i]].value;

        if (v < least) {
            least = v;
            n = 0;
        }
        if (v <= least)
            parents[n++ % NEAR] = m->rows[i];
    }
    return n < NEAR ? n : NEAR;
}

/* The results that are expected to be best. */
static size_t
choose_parents(const struct gp *g, size_t *parents)
{
    const struct gp_model *m = &g->values[0];
    double fitted[PARENTS];
    size_t n = 0;

    if (g->n_values > 1)
        return choose_front(g, parents);
    for (size_t i = 0; i < m->n_rows; i++) {
        double v = process_fitted(&m->process, i);
        size_t at = n;

        while (at > 0 && v < fitted[at - 1])
            at--;
        if (at == PARENTS)
            continue;
        n += n < PARENTS;
        memmove(fitted + at + 1, fitted + at, (n - at - 1) * sizeof *fitted);
        memmove(parents + at + 1, parents + at, (n - at - 1) * sizeof *parents);
        fitted[at] = v;
        parents[at] = m->rows[i];
    }
    return n;
}

static void
screen(struct gp *g, struct contest *k)
{
    struct batch *b = &k->batch;
    size_t parents[NEAR], n = choose_parents(g, parents);

    for (size_t i = 0; i < DRAWN + NEAR; i += NUM_LANES) {
        b->n = NUM_LANES;
        for (size_t j = 0; j < NUM_LANES; j++) {
            double *x = b->x + j * g->n_dims;

            if (i < DRAWN) {
                k->draw++;
                prior_fill(&g->prior, x, &g->services.random, k->id, k->draw);
            } else {
                size_t which = i - DRAWN + j;
                double fall = STEP_FALLS * (double)which / NEAR;

                mutate(g, k, g->results.x + parents[which % n] * g->n_dims,
                       STEP * num_exp(-fall), x);
            }
        }
        put_features(g, b);
        weigh(g, b, false);
        note_starts(g, k);
        compete(g, k);
    }
}

/* Where the columns of numbers are, as parameters. */
static void
read_back(const struct gp *g, struct batch *b, const double *c)
{
    for (size_t k = 0; k < b->n; k++)
        for (size_t i = 0; i < g->n_dims; i++) {
            double *x = &b->x[k * g->n_dims + i];

            if (g->column[i] < g->n_number && !isnan(*x))
                *x = cmaes_axis_internal(&g->axes[i],
                                         c[g->column[i] * NUM_LANES + k]);
        }
}

/* A step of each number whose slope has a sign, wider while it keeps that. */
static void
climb_once(const struct gp *g, struct batch *b)
{
    for (size_t i = 0; i < g->n_dims; i++) {
        size_t at = g->column[i] * NUM_LANES;

        if (g->column[i] >= g->n_number)
            continue;
        for (size_t k = 0; k < NUM_LANES; k++, at++) {
            double s = b->g[at], agree = s * b->sign[at];

            if (isnan(b->x[(k < b->n ? k : 0) * g->n_dims + i]))
                continue;
            if (agree > 0)
                b->step[at] *= 1.3;
            if (agree < 0) {
                b->step[at] *= 0.4;
                s = 0;
            }
            b->sign[at] = s;
            b->c[at] += s > 0 ? b->step[at] : s < 0 ? -b->step[at] : 0;
            b->c[at] = cmaes_axis_clip(&g->axes[i], b->c[at]);
        }
    }
}

/* All starts climb; what they reach competes. */
static void
climb(struct gp *g, struct contest *k)
{
    struct batch *b = &k->batch;
    size_t cells = g->n_number * NUM_LANES;

    b->n = k->n_starts;
    memcpy(b->x, k->starts, b->n * g->n_dims * sizeof *b->x);
    put_features(g, b);
    memset(b->sign, 0, cells * sizeof *b->sign);
    for (size_t i = 0; i < cells; i++)
        b->step[i] = CLIMB_STEP;
    memcpy(b->top, b->c, cells * sizeof *b->top);
    for (size_t j = 0; j < NUM_LANES; j++)
        b->most[j] = -INFINITY;
    for (size_t i = 0; i < CLIMBS; i++) {
        weigh(g, b, true);
        for (size_t j = 0; j < NUM_LANES; j++) {
            if (!(b->gain[j] > b->most[j]))
                continue;
            b->most[j] = b->gain[j];
            for (size_t c = j; c < cells; c += NUM_LANES)
                b->top[c] = b->c[c];
        }
        climb_once(g, b);
    }
    read_back(g, b, b->top);
    put_features(g, b);
    weigh(g, b, false);
    compete(g, k);
}

/* Mutants of the best, in smaller and smaller steps. */
static void
refine(struct gp *g, struct contest *k)
{
    struct batch *b = &k->batch;

    b->n = NUM_LANES;
    for (size_t i = 0; i < ROUNDS && k->gain > -INFINITY; i++) {
        double fall = STEP_FALLS * (double)i / ROUNDS;

        for (size_t j = 0; j < NUM_LANES; j++)
            mutate(g, k, k->best, STEP * num_exp(-fall), b->x + j * g->n_dims);
        put_features(g, b);
        weigh(g, b, false);
        compete(g, k);
    }
}

static void
contest_init(struct gp *g, struct contest *k, uint64_t id)
{
    size_t cells = g->n_number * NUM_LANES;
    double *at = g->scratch;

    memset(k, 0, sizeof *k);
    k->id = id;
    k->draw = (uint32_t)(g->again << 20);
    k->gain = -INFINITY;
    k->best = at;
    k->starts = at += g->n_dims;
    k->batch.x = at += NUM_LANES * g->n_dims;
    k->batch.c = at += NUM_LANES * g->n_dims;
    k->batch.g = at += NUM_LANES * g->n_column;
    k->batch.h = at += cells;
    k->batch.step = at += cells;
    k->batch.sign = at += cells;
    k->batch.top = at + cells;
}

/* Whoever sets up a space has its middle nearer to what is good than its
 * edges. */
static void
move_to_middle(const struct gp *g, double *x)
{
    for (size_t i = 0; i < g->n_dims; i++)
        if (!is_choice(g, i) && !isnan(x[i]))
            x[i] = g->axes[i].is_normal ? g->axes[i].mu
                                        : prior_draw(&g->prior.dims[i], 0.5);
}

/* A draw of the prior, one that was not tried if there is one. */
static void
draw(struct gp *g, struct contest *k, double *x)
{
    for (int i = 0; i < TRIES; i++) {
        prior_fill(&g->prior, x, &g->services.random, k->id, ++k->draw);
        if (is_new(g, x))
            return;
    }
}

/* Whether the trial is a draw that nobody chose: so are some while there is no
 * progress, as the process may be sure of the wrong valley. */
static bool
is_apart(const struct gp *g)
{
    const struct gp_points *r = &g->results;
    double best = INFINITY;
    size_t since = 0;

    if (g->options.never_apart)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        if (r->at[i].class != GP_FINAL)
            continue;
        since++;
        if (r->at[i].value < best) {
            best = r->at[i].value;
            since = 0;
        }
    }
    return since >= GP_STALL && (r->n + g->pending.n) % GP_APART == 0;
}

int
gp_ask(struct gp *g, uint64_t id, double *x)
{
    struct gp_point point = {.id = id};
    struct contest k;
    uint64_t key[2];
    bool knows;

    g->again = id == g->last_id ? g->again + 1 : 0;
    g->last_id = id;
    unpend(g, id);
    contest_init(g, &k, id);
    g->story = (struct gp_story){.n_modelled = 0};
    if (sync(g, true, &knows) != 0)
        return -1;
    g->story.is_apart = knows && is_apart(g);
    if (knows && !g->story.is_apart) {
        screen(g, &k);
        climb(g, &k);
        if (g->has_steps)
            refine(g, &k);
    }
    if (k.gain > -INFINITY) {
        memcpy(x, k.best, g->n_dims * sizeof *x);
        tell_story(g, &k);
    } else {
        draw(g, &k, x);
        g->story.is_middle = g->options.from_middle && id == 0 &&
                             g->again == 0 && g->results.n == g->n_failed;
        if (g->story.is_middle)
            move_to_middle(g, x);
    }
    if (g->repeats && g->services.key(g->services.ctx, x, key) == 0 &&
        keyset_add(&g->tried, key, NULL) < 0)
        return -1;
    return points_add(&g->pending, g->n_dims, &point, x);
}

static int
add_result(struct gp *g, uint64_t id, const double *x, enum gp_class class,
           double value)
{
    struct gp_point p = {.id = id, .class = class, .value = value};
    uint64_t key[2];

    if (g->repeats && g->services.key(g->services.ctx, x, key) == 0 &&
        keyset_add(&g->tried, key, NULL) < 0)
        return -1;
    if (points_add(&g->results, g->n_dims, &p, x) != 0)
        return -1;
    g->n_failed += class == GP_FAILED;
    return 0;
}

int
gp_tell(struct gp *g, uint64_t id, const double *x, enum gp_class class,
        double value)
{
    struct gp_points *r = &g->results;

    if (class == GP_FINAL && !isfinite(value))
        class = GP_FAILED;
    if (id == GP_NO_ID || unpend(g, id))
        return add_result(g, id, x, class, value);
    /* Its end may have been told before. */
    for (size_t i = r->n; i-- > 0;)
        if (r->at[i].id == id) {
            g->n_failed -= r->at[i].class == GP_FAILED;
            g->n_failed += class == GP_FAILED;
            r->at[i].class = class;
            r->at[i].value = value;
            g->feasible.n_rows = 0;
            for (size_t k = 0; k < g->n_values; k++)
                g->values[k].n_rows = 0;
            return 0;
        }
    return add_result(g, id, x, class, value);
}

int
gp_lost(struct gp *g, uint64_t id, const double *x, bool counts,
        enum gp_class class)
{
    if (!unpend(g, id) || !counts)
        return 0;
    return add_result(g, id, x, class, NAN);
}

int
gp_score(struct gp *g, const double *const *points, size_t n, double *out)
{
    struct contest k;
    bool knows;

    if (sync(g, false, &knows) != 0)
        return -1;
    contest_init(g, &k, 0);
    for (size_t i = 0; i < n; i += NUM_LANES) {
        struct batch *b = &k.batch;

        b->n = n - i < NUM_LANES ? n - i : NUM_LANES;
        for (size_t j = 0; j < b->n; j++)
            memcpy(b->x + j * g->n_dims, points[i + j],
                   g->n_dims * sizeof *b->x);
        if (knows) {
            put_features(g, b);
            weigh(g, b, false);
        }
        for (size_t j = 0; j < b->n; j++)
            out[i + j] = knows ? b->gain[j] : NAN;
    }
    return 0;
}

/* ---- saving ---- */

static void
save_points(const struct gp *g, const struct gp_points *p,
            const struct tp_sink *sink)
{
    tp_put_u64(sink, p->n);
    for (size_t i = 0; i < p->n; i++) {
        tp_put_u64(sink, p->at[i].id);
        tp_put_u64(sink, p->at[i].class);
        tp_put_f64(sink, p->at[i].value);
        tp_put_f64s(sink, p->x + i * g->n_dims, g->n_dims);
    }
}

static void
save_model(const struct gp_model *m, const struct tp_sink *sink)
{
    tp_put_u64(sink, m->fit_next);
    tp_put_f64s(sink, m->process.theta, n_theta(m));
}

void
gp_save(const struct gp *g, const struct tp_sink *sink)
{
    tp_put_u64(sink, g->last_id);
    tp_put_u64(sink, g->again);
    save_points(g, &g->results, sink);
    save_points(g, &g->pending, sink);
    for (size_t k = 0; k < g->n_values && g->has_model; k++)
        save_model(&g->values[k], sink);
    tp_put_u64(sink, g->warp_tried);
    for (size_t i = 0; i < g->n_dims; i++)
        if (may_warp(g, i))
            tp_put_u64(sink, g->axes[i].is_warped);
    tp_put_u64(sink, g->feasible.rows != NULL);
    if (g->feasible.rows != NULL)
        save_model(&g->feasible, sink);
    keyset_save(&g->tried, sink);
}

static const char *
load_points(struct gp *g, struct gp_points *p, const struct tp_source *source)
{
    const char *wrong = NULL;
    double *x = calloc(g->n_dims + 1, sizeof *x);
    uint64_t n;

    if (x == NULL)
        return "out of memory";
    if (tp_get_u64(source, &n) != TP_OK)
        wrong = "the saved points are cut off";
    while (wrong == NULL && n-- > 0) {
        struct gp_point point;

        if (tp_get_u64(source, &point.id) != TP_OK ||
            tp_get_u64(source, &point.class) != TP_OK ||
            tp_get_f64(source, &point.value) != TP_OK ||
            tp_get_f64s(source, x, g->n_dims) != TP_OK)
            wrong = "the saved points are cut off";
        else if (point.class > GP_FAILED || !prior_holds(&g->prior, x) ||
                 (point.class == GP_FINAL && !isfinite(point.value)))
            wrong = "a saved point is none of this search space";
        else if (points_add(p, g->n_dims, &point, x) != 0)
            wrong = "out of memory";
    }
    free(x);
    return wrong;
}

static const char *
load_model(struct gp_model *m, const struct tp_source *source)
{
    const double *theta = m->process.theta;
    size_t n = m->process.n_group + 2;

    if (tp_get_u64(source, &m->fit_next) != TP_OK ||
        tp_get_f64s(source, m->process.theta, n_theta(m)) != TP_OK)
        return "the saved length scales are cut off";
    for (size_t i = 0; i < 3 * n; i++)
        if (!isfinite(theta[i]) || (i < n && fabs(theta[i]) > PROCESS_MOST))
            return "a saved length scale is out of range";
    return NULL;
}

static const char *
load_warps(struct gp *g, const struct tp_source *source)
{
    uint64_t is_warped;

    if (tp_get_u64(source, &g->warp_tried) != TP_OK)
        return "the saved warps are cut off";
    if (g->warp_tried > g->n_dims)
        return "a saved warp is of no parameter";
    for (size_t i = 0; i < g->n_dims; i++) {
        if (!may_warp(g, i))
            continue;
        if (tp_get_u64(source, &is_warped) != TP_OK || is_warped > 1)
            return "the saved warps are cut off";
        g->axes[i].is_warped = is_warped == 1;
    }
    return NULL;
}

const char *
gp_load(struct gp *g, const struct tp_source *source)
{
    const char *wrong;
    uint64_t has_feasible;

    if (tp_get_u64(source, &g->last_id) != TP_OK ||
        tp_get_u64(source, &g->again) != TP_OK)
        return "what was saved is cut off";
    wrong = load_points(g, &g->results, source);
    for (size_t i = 0; i < g->results.n; i++)
        g->n_failed += g->results.at[i].class == GP_FAILED;
    if (wrong == NULL)
        wrong = load_points(g, &g->pending, source);
    for (size_t k = 0; k < g->n_values && g->has_model && wrong == NULL; k++)
        wrong = load_model(&g->values[k], source);
    if (wrong == NULL)
        wrong = load_warps(g, source);
    if (wrong != NULL)
        return wrong;
    if (tp_get_u64(source, &has_feasible) != TP_OK || has_feasible > 1 ||
        (has_feasible && !g->has_model))
        return "what was saved is cut off";
    if (has_feasible && feasible_init(g) != 0)
        return "out of memory";
    if (has_feasible)
        wrong = load_model(&g->feasible, source);
    return wrong != NULL ? wrong : keyset_load(&g->tried, source);
}
