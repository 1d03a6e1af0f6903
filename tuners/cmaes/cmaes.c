/* SPDX-License-Identifier: MIT */
#include "cmaes/cmaes.h"

#include "cmaes/axis.h"
#include "cmaes/state.h"
#include "elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
