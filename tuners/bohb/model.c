/* SPDX-License-Identifier: MIT */
#include "bohb/model.h"

#include "grow.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX 256
#define LOG_LEAST                                              \
    (-0x1.26bb1bbb55516p+6) /* of 1e-32: densities are no less \
                             */

struct rank {
    double loss;
    size_t i;
};

struct model *
model_new(const struct model_options *options, size_t n_levels)
{
    struct model *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    m->options = *options;
    m->n_levels = n_levels;
    m->levels = calloc(n_levels, sizeof *m->levels);
    if (m->levels == NULL) {
        free(m);
        return NULL;
    }
    return m;
}

static void
forget_space(struct model *m)
{
    for (size_t i = 0; i < m->n_levels; i++) {
        free(m->levels[i].results);
        free(m->levels[i].x);
        m->levels[i] = (struct model_level){.n = 0};
    }
    kde_fini(&m->good);
    kde_fini(&m->others);
    prior_fini(&m->prior);
    free(m->axes);
    free(m->places);
    free(m->candidate);
    m->axes = NULL;
    m->places = NULL;
    m->candidate = NULL;
    m->is_fitted = false;
}

void
model_free(struct model *m)
{
    if (m == NULL)
        return;
    forget_space(m);
    free(m->levels);
    free(m);
}

int
model_space(struct model *m, struct prior *prior, struct axis *axes)
{
    size_t n = prior->n_dims;

    forget_space(m);
    m->prior = *prior;
    *prior = (struct prior){0};
    m->axes = axes;
    m->places = calloc(n + 1, sizeof *m->places);
    m->candidate = calloc(n + 1, sizeof *m->candidate);
    if (kde_init(&m->good, axes, n) != 0 ||
        kde_init(&m->others, axes, n) != 0 || m->places == NULL ||
        m->candidate == NULL)
        return -1;
    return 0;
}

static int
reserve(struct model_level *l, size_t n_dims)
{
    size_t room = grow_cap(l->room);

    if (l->n < l->room)
        return 0;
    if (grow_to(&l->results, room, sizeof *l->results) != 0 ||
        grow_to(&l->x, room, n_dims * sizeof *l->x) != 0)
        return -1;
    l->room = room;
    return 0;
}

int
model_learn(struct model *m, size_t level, uint64_t n, const double *x,
            double value, bool again)
{
    struct model_level *l = &m->levels[level];
    double loss = m->options.maximize ? -value : value;
    size_t i = again ? l->n : 0;

    while (i > 0 && l->results[i - 1].n != n)
        i--;
    if (i == 0 && reserve(l, m->prior.n_dims) != 0)
        return -1;
    i = i == 0 ? l->n++ : i - 1;
    l->results[i] =
        (struct model_result){n, isnan(loss) ? (double)INFINITY : loss};
    memcpy(l->x + i * m->prior.n_dims, x, m->prior.n_dims * sizeof *x);
    m->is_fitted = false;
    return 0;
}

static size_t
min_points(const struct model *m)
{
    size_t least = m->prior.n_dims + 1;

    return m->options.min_points > least ? m->options.min_points : least;
}

static size_t
n_good(const struct model *m, size_t n)
{
    size_t share = m->options.top_percent * n / 100;

    return share > min_points(m) ? share : min_points(m);
}

/* The greatest budget that has enough results; n_levels: none has. */
static size_t
modelled_level(const struct model *m)
{
    for (size_t i = m->n_levels; i-- > 0;)
        if (m->levels[i].n >= n_good(m, m->levels[i].n) + m->prior.n_dims + 1)
            return i;
    return m->n_levels;
}

static int
compare(const void *va, const void *vb)
{
    const struct rank *a = va, *b = vb;

    if (a->loss != b->loss)
        return a->loss < b->loss ? -1 : 1;
    return a->i < b->i ? -1 : 1;
}

/* Around n results; of more than KERNELS_MAX, of each rank alike. */
static int
fit_some(struct model *m, struct kde *k, const struct model_level *l,
         const struct rank *ranks, size_t n)
{
    const double *points[KERNELS_MAX];
    size_t most = n < KERNELS_MAX ? n : KERNELS_MAX;

    for (size_t i = 0; i < most; i++)
        points[i] = l->x + ranks[i * n / most].i * m->prior.n_dims;
    return kde_fit(k, points, most, m->options.min_bandwidth);
}

/* -1: out of memory. */
static int
fit(struct model *m, size_t level)
{
    const struct model_level *l = &m->levels[level];
    struct rank *ranks = calloc(l->n, sizeof *ranks);
    size_t good = n_good(m, l->n);

    if (ranks == NULL)
        return -1;
    for (size_t i = 0; i < l->n; i++)
        ranks[i] = (struct rank){l->results[i].loss, i};
    qsort(ranks, l->n, sizeof *ranks, compare);
    m->is_fitted = fit_some(m, &m->good, l, ranks, good) == 0 &&
                   fit_some(m, &m->others, l, ranks + good, l->n - good) == 0;
    free(ranks);
    return m->is_fitted ? 0 : -1;
}

static double
score_of(struct model *m, const double *x)
{
    double l, g;

    for (size_t j = 0; j < m->prior.n_dims; j++) {
        m->places[j] = (struct place){NAN, NAN, NAN};
        if (!isnan(x[j]))
            m->places[j] = tpe_axis_place(&m->axes[j], x[j]);
    }
    l = kde_log_density(&m->good, m->places);
    g = kde_log_density(&m->others, m->places);
    return (l > LOG_LEAST ? l : LOG_LEAST) - (g > LOG_LEAST ? g : LOG_LEAST);
}

/* Draws of one answer: two for each candidate, then that of the prior, then
 * the coin. */
static uint32_t
draw_for(const struct model *m, uint64_t again, size_t i)
{
    return (uint32_t)(again * (2 * m->options.num_samples + 2) + i);
}

static void
keep_inside(const struct model *m, double *x)
{
    for (size_t j = 0; j < m->prior.n_dims; j++) {
        const struct prior_dim *d = &m->prior.dims[j];

        if (d->n_choices == 0 && !d->is_normal && x[j] < d->low)
            x[j] = d->low;
        if (d->n_choices == 0 && !d->is_normal && x[j] > d->high)
            x[j] = d->high;
    }
}

static void
draw_best(struct model *m, const struct prior_random *random, uint64_t id,
          uint64_t again, double *x, struct model_origin *origin)
{
    struct kde_random r = {random->uniform, random->ctx, id, 0};
    size_t bytes = m->prior.n_dims * sizeof *x;

    for (size_t i = 0; i < m->options.num_samples; i++) {
        double score;

        r.draw = draw_for(m, again, 2 * i);
        kde_draw(&m->good, &r, m->options.bandwidth_factor, m->candidate);
        score = score_of(m, m->candidate);
        if (i > 0 && !(score > origin->score))
            continue;
        origin->score = score;
        origin->candidate = i;
        memcpy(x, m->candidate, bytes);
    }
    keep_inside(m, x);
}

/* The level with the most results, the greater of two. */
static size_t
fullest(const struct model *m)
{
    size_t best = 0;

    for (size_t i = 1; i < m->n_levels; i++)
        if (m->levels[i].n >= m->levels[best].n)
            best = i;
    return best;
}

void
model_ask(struct model *m, const struct prior_random *random, uint64_t id,
          uint64_t again, bool by_other, double *x, struct model_origin *origin)
{
    size_t level = modelled_level(m), last = 2 * m->options.num_samples;
    double coin =
        random->uniform(random->ctx, id, 0, draw_for(m, again, last + 1));

    *origin =
        (struct model_origin){.needed = min_points(m) + m->prior.n_dims + 1};
    origin->level = level < m->n_levels ? level : fullest(m);
    origin->n_results = m->levels[origin->level].n;
    origin->is_fraction =
        level < m->n_levels && coin < m->options.random_fraction;
    if (origin->is_fraction)
        prior_fill(&m->prior, x, random, id, draw_for(m, again, last));
    if (level == m->n_levels || origin->is_fraction || by_other ||
        (!m->is_fitted && fit(m, level) != 0))
        return;
    origin->is_modelled = true;
    origin->n_good = m->good.n;
    origin->n_others = m->others.n;
    draw_best(m, random, id, again, x, origin);
}

int
model_score(struct model *m, const double *const *points, size_t n, double *out)
{
    size_t level = modelled_level(m);

    if (level < m->n_levels && !m->is_fitted && fit(m, level) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        out[i] = level < m->n_levels ? score_of(m, points[i]) : (double)NAN;
    return 0;
}

void
model_save(const struct model *m, const struct tp_sink *sink)
{
    size_t n_dims = m->prior.n_dims;

    for (size_t i = 0; i < m->n_levels; i++) {
        const struct model_level *l = &m->levels[i];

        tp_put_u64(sink, l->n);
        for (size_t k = 0; k < l->n; k++) {
            tp_put_u64(sink, l->results[k].n);
            tp_put_f64(sink, l->results[k].loss);
            tp_put_f64s(sink, l->x + k * n_dims, n_dims);
        }
    }
}

static const char *
load_result(struct model *m, size_t level, double *x,
            const struct tp_source *source)
{
    struct model_result r;

    if (tp_get_u64(source, &r.n) != TP_OK ||
        tp_get_f64(source, &r.loss) != TP_OK ||
        tp_get_f64s(source, x, m->prior.n_dims) != TP_OK)
        return "a saved result is cut off";
    if (isnan(r.loss) || !prior_holds(&m->prior, x))
        return "a saved result is none of this search space";
    if (model_learn(m, level, r.n, x, m->options.maximize ? -r.loss : r.loss,
                    false) != 0)
        return "out of memory";
    return NULL;
}

const char *
model_load(struct model *m, const struct tp_source *source)
{
    const char *wrong = NULL;
    double *x = calloc(m->prior.n_dims + 1, sizeof *x);

    if (x == NULL)
        return "out of memory";
    for (size_t i = 0; wrong == NULL && i < m->n_levels; i++) {
        uint64_t n = 0;

        if (tp_get_u64(source, &n) != TP_OK)
            wrong = "the saved results are cut off";
        while (wrong == NULL && n-- > 0)
            wrong = load_result(m, i, x, source);
    }
    free(x);
    return wrong;
}
