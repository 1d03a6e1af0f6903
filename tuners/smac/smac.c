/* SPDX-License-Identifier: MIT */
#include "smac/smac.h"

#include "elementary.h"
#include "grow.h"
#include "normal.h"
#include "tpe/twins.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_SQRT_2_PI 0x1.d67f1c864beb5p-1
#define NO_NUMBER (-2.0)           /* of an inactive parameter, in units */
#define NO_CODE (FOREST_CODES - 1) /* of an inactive choice */
#define STARTS 5                   /* of local searches, of either kind */
#define SPOTS (3 + 2 * STARTS)
#define CHANGES 200  /* of parameters, that a local search tries at most */
#define NEIGHBOURS 4 /* tried of a parameter, by turns */
#define FAR_SD 0.2   /* farther away, in units */
#define NEAR_SD 0.02 /* and nearer */
#define TAIL (-6.0)  /* where the improvement's series begins to be exact */
#define LEAST_VARIANCE 1e-6
#define LEAST_GAP 1e-3        /* of the range, below the best result */
#define LEAST_SHARE 0x1p-1022 /* of it, so that its logarithm is finite */

struct smac *
smac_new(const struct smac_options *options, const struct axis *axes,
         size_t n_dims)
{
    struct smac *s = calloc(1, sizeof *s);
    bool *is_category = calloc(n_dims + 1, sizeof *is_category);
    int rc = s == NULL || is_category == NULL ? -1 : 0;

    if (rc == 0) {
        s->options = *options;
        s->n_dims = n_dims;
        tpe_points_init(&s->points, n_dims);
        s->axes = calloc(n_dims + 1, sizeof *axes);
        s->scratch = calloc(SPOTS, 2 * (n_dims + 1) * sizeof(double));
        for (size_t d = 0; d < n_dims; d++)
            is_category[d] = axes[d].kind == AXIS_CATEGORY;
        if (s->axes == NULL || s->scratch == NULL ||
            forest_init(&s->forest, &options->forest, is_category, n_dims) != 0)
            rc = -1;
    }
    free(is_category);
    if (rc != 0) {
        smac_free(s);
        return NULL;
    }
    memcpy(s->axes, axes, n_dims * sizeof *axes);
    return s;
}

void
smac_free(struct smac *s)
{
    if (s == NULL)
        return;
    tpe_points_fini(&s->points);
    keyset_fini(&s->twins);
    forest_fini(&s->forest);
    free(s->axes);
    free(s->rank);
    free(s->rows);
    free(s->x);
    free(s->y);
    free(s->scratch);
    free(s);
}

/* ---- what the forest sees ---- */

static double
column_of(const struct axis *a, double at)
{
    if (a->kind != AXIS_CATEGORY)
        return isnan(at) ? NO_NUMBER : at;
    if (isnan(at))
        return NO_CODE;
    if (a->n <= NO_CODE)
        return at;
    return (double)(uint64_t)(at / a->n * NO_CODE); /* neighbours share one */
}

static int
make_room(struct smac *s)
{
    size_t n = s->points.capacity;
    size_t rows = n < s->options.most ? n : s->options.most;

    if (n <= s->room)
        return 0;
    if (grow_to(&s->rank, n, sizeof *s->rank) != 0 ||
        grow_to(&s->rows, rows, sizeof *s->rows) != 0 ||
        grow_to(&s->x, rows, s->n_dims * sizeof *s->x) != 0 ||
        grow_to(&s->y, rows, sizeof *s->y) != 0)
        return -1;
    s->room = n;
    return 0;
}

/* The loss that a share `below` of the results is better than. */
static double
quantile(const struct smac *s, double below)
{
    const struct points *p = &s->points;
    size_t n = p->n_done > 0 ? p->n_done : p->n_stopped;
    size_t rank = (size_t)(below * (double)(n - 1));

    return p->n_done > 0 ? p->all[p->ranked[rank]].loss : (double)rank;
}

/* What the loss of point i is taken for.  Without complete results that of a
 * stopped trial is its rank. */
static double
loss_of(const struct smac *s, uint32_t i)
{
    const struct point *p = &s->points.all[i];
    double middle = quantile(s, 0.5), worst = quantile(s, 1);

    switch (p->state) {
    case POINT_DONE:
        return p->loss;
    case POINT_STOPPED:
        if (s->points.n_done == 0)
            return (double)s->rank[i];
        return p->loss < middle ? middle : p->loss < worst ? p->loss : worst;
    case POINT_OPEN:
        return middle;
    case POINT_FAILED:
    case POINT_GONE:
        break;
    }
    return worst;
}

/* The points that the forest is fitted to: the best, a quarter of what there is
 * room for, and the latest others. */
static size_t
choose_rows(struct smac *s)
{
    const struct points *p = &s->points;
    size_t n = 0, good = s->options.most / 4, others = s->options.most - good;

    for (size_t i = 0; i < p->n; i++)
        s->rank[i] = UINT32_MAX;
    for (size_t r = 0; r < tpe_points_ranked(p); r++)
        s->rank[p->ranked[r]] = (uint32_t)r;
    for (size_t i = p->n; i-- > 0;) {
        if (p->all[i].state == POINT_GONE ||
            (s->rank[i] >= good && others == 0))
            continue;
        others -= s->rank[i] >= good;
        s->rows[n++] = (uint32_t)i;
    }
    return n;
}

static double
target(double above, double range, double gap)
{
    return range > 0 ? num_log((above + gap) / (range + gap) + LEAST_SHARE) : 0;
}

/* Losses as the forest has them: logarithms of how far they are above a value
 * that lies as far below the best as a twentieth of the results lie above it,
 * in units of the whole range.  Eighths, so that no difference overflows. */
static void
set_targets(struct smac *s, size_t n, double *best)
{
    double first = quantile(s, 0) / 8, range = quantile(s, 1) / 8 - first;
    double gap = quantile(s, 0.05) / 8 - first;

    if (!(gap > 0))
        gap = LEAST_GAP * range;
    if (!(first - gap < first)) /* too little for a double */
        gap = range;
    for (size_t i = 0; i < n; i++)
        s->y[i] = target(loss_of(s, s->rows[i]) / 8 - first, range, gap);
    *best = target(0, range, gap);
}

/* The forest's prediction is then that of *n points.  -1: out of memory. */
static int
fit(struct smac *s, struct dice *dice, size_t *n, double *best)
{
    struct forest_data data;

    if (make_room(s) != 0)
        return -1;
    *n = choose_rows(s);
    set_targets(s, *n, best);
    for (size_t d = 0; d < s->n_dims; d++)
        for (size_t i = 0; i < *n; i++)
            s->x[d * *n + i] = column_of(
                &s->axes[d], tpe_points_at(&s->points, s->rows[i])[d]);
    data = (struct forest_data){.x = s->x, .y = s->y, .n_rows = *n};
    return forest_fit(&s->forest, &data, dice);
}

/* ---- the expected improvement ---- */

/* ln of what a normal variable is expected to fall below `best` by. */
static double
log_improvement(double mean, double variance, double best)
{
    double sd = num_sqrt(variance > LEAST_VARIANCE ? variance : LEAST_VARIANCE);
    double z = (best - mean) / sd, density = -0.5 * z * z - LOG_SQRT_2_PI;

    if (z > TAIL)
        return num_log(sd) + num_log(num_exp(density) + z * num_normal_cdf(z));
    return num_log(sd) + density - 2 * num_log(-z) +
           num_log1p((-3 + 15 / (z * z)) / (z * z));
}

/* A point of the search. */
struct spot {
    double *at;      /* coordinates, NaN where inactive */
    double *columns; /* the same for the forest */
    double score, mean, sd;
};

struct search {
    struct smac *s;
    struct dice *dice;
    double best;       /* of the complete results */
    struct spot found; /* the best that is no twin */
    bool has_found, found_locally;
    bool is_local; /* what is looked at now */
};

static struct spot
spot_at(const struct smac *s, size_t i)
{
    return (struct spot){.at = s->scratch + 2 * i * (s->n_dims + 1),
                         .columns = s->scratch + (2 * i + 1) * (s->n_dims + 1)};
}

static void
copy_spot(const struct smac *s, struct spot *to, const struct spot *from)
{
    memcpy(to->at, from->at, s->n_dims * sizeof *to->at);
    memcpy(to->columns, from->columns, s->n_dims * sizeof *to->at);
    to->score = from->score;
    to->mean = from->mean;
    to->sd = from->sd;
}

static bool
is_twin(const struct smac *s, const double *at)
{
    uint64_t key[2];

    tpe_twins_key(at, s->n_dims, key);
    return keyset_has(&s->twins, key);
}

static void
score_spot(struct search *q, struct spot *spot)
{
    double variance;

    forest_predict(&q->s->forest, spot->columns, &spot->mean, &variance);
    spot->sd = num_sqrt(variance);
    spot->score = log_improvement(spot->mean, variance, q->best);
    if ((q->has_found && !(spot->score > q->found.score)) ||
        is_twin(q->s, spot->at))
        return;
    copy_spot(q->s, &q->found, spot);
    q->has_found = true;
    q->found_locally = q->is_local;
}

static void
set_at(const struct smac *s, struct spot *spot, size_t d, double at)
{
    spot->at[d] = at;
    spot->columns[d] = column_of(&s->axes[d], at);
}

/* Where what is tried at the coordinate u lies: a rounded value's middle. */
static double
settle(const struct axis *a, double u)
{
    return a->kind != AXIS_SINGLE && a->q == 0 && !a->is_index
               ? u
               : tpe_axis_place(a, tpe_axis_value(a, u)).at;
}

static double
draw_at(const struct axis *a, struct dice *dice)
{
    return settle(a, tpe_axis_draw_prior(a, dice_uniform(dice)));
}

/* The dimensions from d on that hang on others, where those have changed. */
static void
follow(const struct smac *s, struct spot *spot, size_t d, struct dice *dice)
{
    for (; d < s->n_dims; d++) {
        bool active = tpe_axis_is_active(&s->axes[d], spot->at);

        if (active == !isnan(spot->at[d]))
            continue;
        set_at(s, spot, d, active ? draw_at(&s->axes[d], dice) : (double)NAN);
    }
}

static void
draw_spot(const struct smac *s, struct spot *spot, struct dice *dice)
{
    for (size_t d = 0; d < s->n_dims; d++)
        set_at(s, spot, d,
               tpe_axis_is_active(&s->axes[d], spot->at)
                   ? draw_at(&s->axes[d], dice)
                   : (double)NAN);
}

/* Another value for dimension d, which has several. */
static double
neighbour(const struct axis *a, double at, double sd, struct dice *dice)
{
    double u = at;

    if (a->kind == AXIS_CATEGORY) {
        u = (double)dice_below(dice, (size_t)a->n - 1);
        return u + (u >= at);
    }
    u += sd * dice_normal(dice);
    if (a->kind == AXIS_RANGE)
        u = u < 0 ? (-u < 1 ? -u : 0) : u > 1 ? (u < 2 ? 2 - u : 1) : u;
    u = settle(a, u);
    if (u == at && a->n > 1) { /* at least to the next cell */
        double column = tpe_axis_column(a, at);
        bool up =
            column + 1 < a->n && (column < 1 || (dice_bits(dice) & 1) != 0);

        u = tpe_axis_of_column(a, (size_t)(up ? column + 1 : column - 1));
    }
    return u;
}

/* Changes one parameter after the other, until a round brings nothing. */
static void
search_from(struct search *q, struct spot *spot, struct spot *next)
{
    const struct smac *s = q->s;
    size_t d = dice_below(q->dice, s->n_dims), idle = 0;

    for (size_t k = 0; idle < s->n_dims && k < CHANGES; k++) {
        d = (d + 1) % s->n_dims;
        idle++;
        for (int i = 0; i < NEIGHBOURS && s->axes[d].kind != AXIS_SINGLE &&
                        !isnan(spot->at[d]);
             i++) {
            copy_spot(s, next, spot);
            set_at(s, next, d,
                   neighbour(&s->axes[d], spot->at[d],
                             i % 2 == 0 ? FAR_SD : NEAR_SD, q->dice));
            follow(s, next, d + 1, q->dice);
            score_spot(q, next);
            if (!(next->score > spot->score))
                continue;
            copy_spot(s, spot, next);
            idle = 0;
        }
    }
}

/* Puts a spot among the best of its kind, which are sorted. */
static void
enter(const struct smac *s, struct spot *top, size_t *n,
      const struct spot *spot)
{
    size_t i;
    struct spot last;

    if (*n == STARTS && !(spot->score > top[STARTS - 1].score))
        return;
    i = *n < STARTS ? (*n)++ : STARTS - 1;
    last = top[i];
    for (; i > 0 && spot->score > top[i - 1].score; i--)
        top[i] = top[i - 1];
    top[i] = last;
    copy_spot(s, &top[i], spot);
}

/* The best that is no twin; if all that was looked at is one, the last. */
static struct spot
search(struct smac *s, struct dice *dice, struct smac_reason *why)
{
    struct search q = {.s = s, .dice = dice, .best = why->best};
    struct spot top[2 * STARTS], spot = spot_at(s, 0), next = spot_at(s, 1);
    size_t n_old = 0, n_new = 0;

    q.found = spot_at(s, 2);
    for (size_t i = 0; i < 2 * STARTS; i++)
        top[i] = spot_at(s, 3 + i);
    for (size_t i = 0; i < why->n_points; i++) {
        const double *at = tpe_points_at(&s->points, s->rows[i]);

        for (size_t d = 0; d < s->n_dims; d++)
            set_at(s, &spot, d, at[d]);
        score_spot(&q, &spot);
        enter(s, top, &n_old, &spot);
    }
    for (size_t i = 0; i < s->options.candidates; i++) {
        draw_spot(s, &spot, dice);
        score_spot(&q, &spot);
        enter(s, top + STARTS, &n_new, &spot);
    }
    q.is_local = true;
    for (size_t i = 0; i < n_old; i++)
        search_from(&q, &top[i], &next);
    for (size_t i = 0; i < n_new; i++)
        search_from(&q, &top[STARTS + i], &next);
    if (!q.has_found)
        q.found = spot;
    why->mean = q.found.mean;
    why->sd = q.found.sd;
    why->is_local = q.found_locally;
    return q.found;
}

static bool
is_ready(const struct smac *s)
{
    return s->n_dims > 0 && tpe_points_ranked(&s->points) >= s->options.startup;
}

static void
tell_point(const struct smac *s, const struct spot *spot, double *x)
{
    for (size_t d = 0; d < s->n_dims; d++)
        x[d] = isnan(spot->at[d]) ? spot->at[d]
                                  : tpe_axis_value(&s->axes[d], spot->at[d]);
}

int
smac_ask(struct smac *s, smac_bits *bits, void *ctx, uint64_t id, double *x,
         struct smac_reason *why)
{
    struct dice dice;
    struct spot spot = spot_at(s, 0);

    tpe_points_ask(&s->points, id);
    dice.state = bits(ctx, id, 0, s->points.again);
    *why = (struct smac_reason){.how = SMAC_STARTS};
    if (is_ready(s))
        why->how = dice_uniform(&dice) < s->options.random ? SMAC_RANDOM
                                                           : SMAC_SEARCHED;
    if (why->how != SMAC_SEARCHED) {
        draw_spot(s, &spot, &dice);
    } else {
        if (fit(s, &dice, &why->n_points, &why->best) != 0)
            return -1;
        spot = search(s, &dice, why);
    }
    tell_point(s, &spot, x);
    return 0;
}

int
smac_score(struct smac *s, const double *const *points, size_t n, double *out)
{
    struct dice dice = {0};
    struct spot spot = spot_at(s, 0);
    double best, variance;
    size_t n_points;

    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
    if (!is_ready(s))
        return 0;
    if (fit(s, &dice, &n_points, &best) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < s->n_dims; d++)
            set_at(s, &spot, d,
                   isnan(points[i][d])
                       ? points[i][d]
                       : tpe_axis_place(&s->axes[d], points[i][d]).at);
        forest_predict(&s->forest, spot.columns, &spot.mean, &variance);
        out[i] = log_improvement(spot.mean, variance, best);
    }
    return 0;
}

/* ---- what it is told ---- */

/* Point i has coordinates it had not before. */
static int
note(struct smac *s, size_t i)
{
    return tpe_twins_add(&s->twins, tpe_points_at(&s->points, i), s->n_dims);
}

/* The point of `id`, at x; its index, or -1: out of memory. */
static int
point_for(struct smac *s, uint64_t id, const double *x, size_t *index)
{
    struct points *p = &s->points;
    size_t i = id == POINTS_NO_ID ? p->n : tpe_points_find(p, id);

    *index = i;
    if (i == p->n) {
        if (tpe_points_add(p, s->axes, id, x) != 0)
            return -1;
    } else {
        tpe_points_move(p, s->axes, i, x);
    }
    return note(s, i);
}

int
smac_open(struct smac *s, uint64_t id, const double *x)
{
    size_t i;

    return point_for(s, id, x, &i);
}

int
smac_tell(struct smac *s, uint64_t id, const double *x, bool stopped,
          double value, uint64_t step)
{
    size_t i;

    if (point_for(s, id, x, &i) != 0)
        return -1;
    tpe_points_tell(&s->points, i, stopped,
                    s->options.maximize ? -value : value, step);
    return 0;
}

int
smac_copy(void *vs, const struct point *point, const double *x)
{
    struct smac *s = vs;

    if (tpe_points_copy(&s->points, s->axes, point, x) != 0)
        return -1;
    return note(s, s->points.n - 1);
}

void
smac_save(const struct smac *s, const struct tp_sink *sink)
{
    tpe_points_save(&s->points, sink);
    tpe_twins_save(&s->twins, sink);
}

/* The places follow by themselves. */
static int
load_point(void *vs, const struct point *point, const double *x)
{
    struct smac *s = vs;

    return tpe_points_copy(&s->points, s->axes, point, x);
}

const char *
smac_load(struct smac *s, const struct tp_source *source)
{
    const char *why =
        tpe_points_load(&s->points, s->axes, source, load_point, s);

    return why == NULL ? tpe_twins_load(&s->twins, source) : why;
}
