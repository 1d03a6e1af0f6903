/* SPDX-License-Identifier: MIT */
/* The tuner `grid`: grid.h behind the plugin interface.  Values and their
 * equality are the host's: it alone rounds, clips and decodes. */
#include "grid/grid.h"
#include "keyset/saved.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE_TEXT_MAX 200
#define IN_VAIN_MAX 131072 /* points in a row that cannot be given out */

struct grid_tuner {
    const struct tp_host *host;
    struct grid *grid; /* NULL before space() */
    const struct tp_space *space;
    size_t n_dims;
    uint64_t epoch;     /* the one last told of */
    uint64_t points;    /* given out or left out so far, of this grid */
    uint64_t in_vain;   /* left out since the last that was given out */
    struct keyset seen; /* given out, imported or told, in any space */
};

/* optimize_mode is what NNI's configurations give to every tuner. */
static const struct tp_arg args[] = {
    TP_MODE_IGNORED,
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->value() and key()");
    return tp_new(host, sizeof(struct grid_tuner));
}

static void
destroy(void *vself)
{
    struct grid_tuner *self = vself;

    grid_free(self->grid);
    keyset_fini(&self->seen);
    free(self);
}

static double
value(void *ctx, size_t i, double x)
{
    const struct tp_host *host = ctx;

    return tp_value_of(host, i, x);
}

static struct grid_dim
dim_of(const struct tp_dim *d)
{
    return (struct grid_dim){
        .n_choices = d->flags & TP_DIM_INDEX ? d->n_choices : 0,
        .is_normal = (d->flags & TP_DIM_NORMAL) != 0,
        .low = d->low,
        .high = d->high,
        .mu = d->mu,
        .sigma = d->sigma,
        .parent = d->parent == TP_NO_PARENT ? GRID_NO_PARENT : d->parent,
        .parent_choice = d->parent_choice,
    };
}

/* "grid subdivided: 3x6 = 18", as far as it fits. */
static void
tell_size(struct grid_tuner *self)
{
    char text[SIZE_TEXT_MAX];
    double product = 1;
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < self->n_dims; i++) {
        uint64_t length = grid_length(self->grid, i);

        product *= (double)length;
        if (at < sizeof text)
            at +=
                (size_t)snprintf(text + at, sizeof text - at, "%s%llu",
                                 i > 0 ? "x" : "", (unsigned long long)length);
    }
    tp_log(self->host, TP_LOG_INFO, "grid %s: %s%s = %.15g",
           grid_epoch(self->grid) == 0 ? "initialized" : "subdivided", text,
           at < sizeof text ? "" : "...", product);
}

static void
tell_epoch(struct grid_tuner *self, int ended)
{
    self->epoch = grid_epoch(self->grid);
    if (ended)
        tp_log(self->host, TP_LOG_INFO, "the search space is fully explored");
    else
        tell_size(self);
}

/* A new grid; what was seen stays seen. */
static int
space(void *vself, const struct tp_space *s)
{
    struct grid_tuner *self = vself;
    struct grid_dim *dims;
    struct grid *grid;

    if (s->n_dims == 0)
        return tp_error(self->host,
                        "is empty, expected at least one parameter");
    dims = calloc(s->n_dims, sizeof *dims);
    if (dims == NULL)
        return tp_out_of_memory(self->host);
    for (size_t i = 0; i < s->n_dims; i++)
        dims[i] = dim_of(TP_DIM(s, i));
    grid = grid_new(dims, s->n_dims, value, (void *)(uintptr_t)self->host);
    free(dims);
    if (grid == NULL)
        return tp_out_of_memory(self->host);
    grid_free(self->grid);
    self->grid = grid;
    self->space = s;
    self->n_dims = s->n_dims;
    self->points = self->in_vain = 0;
    tell_epoch(self, 0);
    return TP_OK;
}

static void
explain(const struct grid_tuner *self, uint64_t left_out)
{
    const struct tp_host *host = self->host;

    tp_explain(host,
               "point %llu of the grid, which is subdivided for the "
               "%lluth time",
               (unsigned long long)self->points,
               (unsigned long long)grid_epoch(self->grid));
    if (left_out > 0)
        tp_explain(host,
                   "%llu before it were left out: their values had been tried",
                   (unsigned long long)left_out);
}

/* The first dimension of which trials cannot be given what x has; n_dims: of
 * all they can. */
static size_t
find_beyond(const struct grid_tuner *self, const double *x)
{
    const struct tp_host *host = self->host;
    size_t i;

    for (i = 0; i < self->n_dims; i++) {
        uint32_t flags = TP_DIM(self->space, i)->flags;
        double v = tp_value_of(host, i, x[i]);

        if (!isnan(x[i]) &&
            (!isfinite(x[i]) || !isfinite(v) ||
             (v == 0 && (flags & (TP_DIM_LOG | TP_DIM_Q)) == TP_DIM_LOG)))
            break;
    }
    return i;
}

/* Goes on to a point that can be given out and has not been tried.  1: x is
 * it; 0: there is none, or none for so long, and *rc is what grid_next() said
 * last; -1: out of memory. */
static int
find_new(struct grid_tuner *self, double *x, int *rc)
{
    int added = 0;

    /* As many as there are keys may have been tried elsewhere. */
    do {
        uint64_t key[2];

        *rc = grid_next(self->grid, x);
        if (*rc != GRID_POINT)
            return *rc == GRID_END ? 0 : -1;
        self->points++;
        self->in_vain++;
        /* A lognormal's far quantiles may be beyond the doubles. */
        if (tp_key(self->host, x, key) == TP_OK)
            added = keyset_add(&self->seen, key, NULL);
    } while (added == 0 &&
             self->in_vain < IN_VAIN_MAX + 2 * (uint64_t)self->seen.n);
    return added;
}

/* x is the last point that was in vain. */
static int
refuse(const struct grid_tuner *self, const double *x)
{
    size_t i = find_beyond(self, x);

    if (i < self->n_dims)
        return tp_error(self->host,
                        "%s: in %llu points of the grid all values are too "
                        "large or too small for a double, the last is %.9g in "
                        "internal coordinates, expected mu and sigma of values "
                        "that a double can hold",
                        TP_DIM(self->space, i)->name,
                        (unsigned long long)self->in_vain, x[i]);
    return tp_error(self->host,
                    "the last %llu points of the grid have parameters that "
                    "were tried before, expected choices without equal values",
                    (unsigned long long)self->in_vain);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct grid_tuner *self = vself;
    int rc, added = find_new(self, out->x, &rc);

    (void)id;
    if (grid_epoch(self->grid) != self->epoch)
        tell_epoch(self, rc == GRID_END);
    if (added < 0)
        return tp_out_of_memory(self->host);
    if (added == 1) {
        explain(self, self->in_vain - 1);
        self->in_vain = 0;
        return TP_OK;
    }
    if (rc == GRID_END &&
        (self->seen.n > 0 || find_beyond(self, out->x) == self->n_dims))
        return TP_DONE;
    return refuse(self, out->x);
}

/* What was tried elsewhere is not tried again; own points are known. */
static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct grid_tuner *self = vself;
    uint64_t key[2];

    (void)result;
    if (id != TP_NO_ID || tp_key(self->host, x, key) != TP_OK)
        return TP_OK;
    return keyset_add(&self->seen, key, NULL) < 0 ? tp_out_of_memory(self->host)
                                                  : TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct grid_tuner *self = vself;

    tp_put_u64(sink, self->epoch);
    tp_put_u64(sink, self->points);
    grid_save(self->grid, sink);
    keyset_save(&self->seen, sink);
    if (self->in_vain > 0)
        tp_put_u64(sink, self->in_vain);
    return TP_OK;
}

/* Into the grid that space() has made. */
static int
load(void *vself, const struct tp_source *source)
{
    struct grid_tuner *self = vself;
    const char *why;

    tp_get_u64(source, &self->epoch);
    tp_get_u64(source, &self->points);
    why = grid_load(self->grid, source);
    if (why == NULL)
        why = keyset_load(&self->seen, source);
    self->in_vain = 0;
    if (why == NULL && tp_left(source) > 0 &&
        (tp_get_u64(source, &self->in_vain) != TP_OK || self->in_vain == 0))
        why = "how many points were left out is damaged";
    return tp_ok_unless(self->host, why);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "grid",
    .doc = "walks a grid that becomes finer until every value was tried",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .space = space,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
