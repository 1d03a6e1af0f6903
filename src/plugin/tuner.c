/* SPDX-License-Identifier: MIT */
/* DESIGN.  The plugin itself is the innermost struct tp_next, base_ask() and
 * its like; filters lie around it (filter.c).  Calls start at `top`, the
 * outermost, and what fails, wherever, fills `failure`. */
#include "plugin/tuner.h"

#include "core/buf.h"
#include "core/err.h"
#include "plugin/filter.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "plugin/tuner_state.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t
n_dims(const struct tuner *t)
{
    return space_dims(t->space)->n_dims;
}

static int
base_space(void *ctx, const struct tp_space *space)
{
    struct tuner *t = ctx;
    int rc;

    instance_enter(&t->instance);
    rc = t->ops->space(t->instance.self, space);
    return instance_leave(&t->instance, "space", rc, TP_OK, &t->failure);
}

static int
base_ask(void *ctx, uint64_t id, struct tp_suggestion *out)
{
    struct tuner *t = ctx;
    struct tp_suggestion lent = {
        ._struct_size = sizeof lent, .x = out->x, .from = TP_NO_ID};
    int rc;

    filter_clear(out);
    for (size_t i = 0; i < n_dims(t); i++)
        lent.x[i] = NAN;
    instance_enter(&t->instance);
    tuner_open_demands(t, true);
    rc = t->ops->ask(t->instance.self, id, &lent);
    rc = instance_leave(&t->instance, "ask", rc, TP_DONE, &t->failure);
    rc = tuner_close_demands(t, "ask", rc);
    rc = filter_taken(t->instance.title, t->space, rc, &lent, out, &t->failure);
    if (rc == TP_OK && tuner_check_terms(t, id, &lent) != 0)
        rc = TP_ERR;
    t->served = rc == TP_OK ? id : TP_NO_ID;
    return rc;
}

static int
base_tell(void *ctx, uint64_t id, const double *x,
          const struct tp_result *result)
{
    struct tuner *t = ctx;
    struct tp_result lent = *result;
    int rc;

    instance_enter(&t->instance);
    tuner_open_demands(t, false);
    rc = t->ops->tell(t->instance.self, id,
                      instance_lend(&t->instance, x, n_dims(t)), &lent);
    rc = instance_leave(&t->instance, "tell", rc, TP_OK, &t->failure);
    rc = tuner_close_demands(t, "tell", rc);
    return instance_take_back(&t->instance, "tell", rc, x, n_dims(t),
                              &t->failure);
}

static int
base_ended(void *ctx, uint64_t id, const double *x, int how)
{
    struct tuner *t = ctx;
    int rc;

    instance_enter(&t->instance);
    tuner_open_demands(t, false);
    rc = t->ops->ended(t->instance.self, id,
                       instance_lend(&t->instance, x, n_dims(t)), how);
    rc = instance_leave(&t->instance, "ended", rc, TP_OK, &t->failure);
    rc = tuner_close_demands(t, "ended", rc);
    return instance_take_back(&t->instance, "ended", rc, x, n_dims(t),
                              &t->failure);
}

static const char *
base_why(void *ctx)
{
    const struct tuner *t = ctx;

    return t->failure.text;
}

static int
base_takes(void *ctx, const double *x)
{
    (void)ctx;
    (void)x;
    return 1;
}

/* ---- as the dispatcher holds it ---- */

struct tuner *
tuner_new(const struct plugin_paths *paths, const char *name, struct jval args,
          uint64_t seed, const struct log *log, struct err *err)
{
    struct tuner *t = calloc(1, sizeof *t);

    if (t == NULL) {
        err_set(err, ERR_MEMORY, "tuner %.100s: out of memory", name);
        return NULL;
    }
    if (instance_open(&t->instance, paths, PLUGIN_TUNER, name, args, seed, log,
                      err) != 0) {
        tuner_free(t);
        return NULL;
    }
    t->ops = &t->instance.plugin->tuner;
    t->base = (struct tp_next){t,          base_space, base_ask,  base_tell,
                               base_ended, base_why,   base_takes};
    t->top = &t->base;
    return t;
}

int
tuner_wrap(struct tuner *t, const struct plugin_paths *paths, const char *name,
           struct jval args, const struct log *log, struct err *err)
{
    struct filter *f = filter_new(paths, name, args, t->instance.seed, log,
                                  t->top, t->filters, &t->failure, err);

    if (f == NULL)
        return -1;
    t->filters = f;
    t->top = &f->layer;
    return 0;
}

void
tuner_free(struct tuner *t)
{
    if (t == NULL)
        return;
    filter_free(t->filters);
    instance_close(&t->instance);
    free(t);
}

void
tuner_listen(struct tuner *t, const struct host_listener *listener)
{
    host_listen(t->instance.host, listener);
    for (struct filter *f = t->filters; f != NULL; f = f->inner)
        host_listen(f->instance.host, listener);
}

const struct plugin *
tuner_plugin(const struct tuner *t)
{
    return t->instance.plugin;
}

uint64_t
tuner_seed(const struct tuner *t)
{
    return t->instance.seed;
}

void
tuner_describe(const struct tuner *t, struct buf *out)
{
    instance_describe(&t->instance, out);
}

const struct plugin *
tuner_filter(const struct tuner *t, size_t i)
{
    const struct filter *f = t->filters;

    while (f != NULL && i-- > 0)
        f = f->inner;
    return f == NULL ? NULL : f->instance.plugin;
}

void
tuner_describe_filters(const struct tuner *t, struct buf *out)
{
    buf_add_char(out, '[');
    for (const struct filter *f = t->filters; f != NULL; f = f->inner) {
        if (f != t->filters)
            buf_add_text(out, ", ");
        instance_describe(&f->instance, out);
    }
    buf_add_char(out, ']');
}

/* What the layers left of a failure, as this call's. */
static int
told(const struct tuner *t, int rc, struct err *err)
{
    if (rc == TP_ERR && err != NULL)
        *err = t->failure;
    return rc;
}

int
tuner_refuse_call(const struct tuner *t, const char *callback, struct err *err)
{
    return err_set(err, ERR_PLUGIN,
                   "%s: %s: not called, because it ended the dispatcher before",
                   t->instance.title, callback);
}

void
tuner_bar(struct tuner *t, bool barred)
{
    t->barred = barred;
}

static int
give_space(struct tuner *t, const struct space *space, struct err *err)
{
    t->space = space;
    host_set_space(t->instance.host, space);
    filter_set_space(t->filters, space);
    return told(t, t->top->space(t->top->ctx, space_dims(space)), err);
}

int
tuner_space(struct tuner *t, const struct space *space, struct err *err)
{
    const struct space *before = t->space;
    size_t n = space_dims(space)->n_dims;

    if (t->barred)
        return tuner_refuse_call(t, "space", err);
    if (instance_reserve(&t->instance, n, err) != 0 ||
        filter_reserve(t->filters, n, err) != 0)
        return -1;
    if (give_space(t, space, err) == 0)
        return 0;
    if (before == NULL || give_space(t, before, NULL) != 0) {
        t->space = NULL;
        host_set_space(t->instance.host, NULL);
        filter_set_space(t->filters, NULL);
    }
    return -1;
}

int
tuner_may_call(const struct tuner *t, const char *callback, struct err *err)
{
    if (t->barred)
        return tuner_refuse_call(t, callback, err);
    return t->space != NULL
               ? 0
               : err_set(err, ERR_PLUGIN, "%s: %s: it has no search space",
                         t->instance.title, callback);
}

int
tuner_ask(struct tuner *t, uint64_t id, double *x, char **label,
          struct err *err)
{
    struct tp_suggestion out = {._struct_size = sizeof out, .x = x};
    int rc;

    *label = NULL;
    if (tuner_may_call(t, "ask", err) != 0)
        return TP_ERR;
    for (size_t i = 0; i < n_dims(t); i++)
        x[i] = NAN;
    filter_clear(&out);
    t->served = TP_NO_ID;
    rc = told(t, t->top->ask(t->top->ctx, id, &out), err);
    if (rc != TP_OK)
        return rc;
    tuner_set_terms(t, id, &out);
    if (out.label == NULL)
        return rc;
    *label = strdup(out.label);
    if (*label == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", t->instance.title);
    return TP_OK;
}

int
tuner_tell(struct tuner *t, uint64_t id, const double *x,
           const struct tp_result *result, struct err *err)
{
    struct tp_result copy = *result;

    if (tuner_may_call(t, "tell", err) != 0)
        return -1;
    copy._struct_size = sizeof copy;
    return told(t, t->top->tell(t->top->ctx, id, x, &copy), err);
}

int
tuner_ended(struct tuner *t, uint64_t id, const double *x, int how,
            struct err *err)
{
    return tuner_may_call(t, "ended", err) != 0
               ? -1
               : told(t, t->top->ended(t->top->ctx, id, x, how), err);
}

int
tuner_score(struct tuner *t, const double *const *points, size_t n, double *out,
            struct err *err)
{
    int rc;

    if (tuner_may_call(t, "score", err) != 0)
        return -1;
    instance_enter(&t->instance);
    rc = t->ops->score(t->instance.self, points, n, out);
    return instance_leave(&t->instance, "score", rc, TP_OK, err);
}
