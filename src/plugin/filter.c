/* SPDX-License-Identifier: MIT */
/* DESIGN.  Every layer is a struct tp_next to the one outside.  What fails
 * writes its reason into the one struct err of the stack; a filter that
 * returns TP_ERR without a reason of its own leaves there what failed inside,
 * so that the layer that is at fault is the one that is named. */
#include "plugin/filter.h"

#include "core/err.h"
#include "plugin/floatenv.h"
#include "plugin/host.h"
#include "space/space.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
enter(struct filter *f)
{
    err_clear(f->failure);
    instance_enter(&f->instance);
}

static int
leave(struct filter *f, const char *callback, int rc, int most)
{
    if (rc == TP_ERR && f->failure->text[0] != '\0' &&
        !host_has_error(f->instance.host)) {
        floatenv_restore();
        return rc;
    }
    return instance_leave(&f->instance, callback, rc, most, f->failure);
}

static int
filter_space(void *ctx, const struct tp_space *space)
{
    struct filter *f = ctx;

    enter(f);
    return leave(f, "space", f->ops->space(f->instance.self, f->next, space),
                 TP_OK);
}

static int
filter_ask(void *ctx, uint64_t id, struct tp_suggestion *out)
{
    struct filter *f = ctx;
    struct tp_suggestion lent = *out;
    int rc;

    enter(f);
    rc = leave(f, "ask", f->ops->ask(f->instance.self, f->next, id, &lent),
               TP_DONE);
    return filter_taken(f->instance.title, f->space, rc, &lent, out,
                        f->failure);
}

static int
filter_tell(void *ctx, uint64_t id, const double *x,
            const struct tp_result *result)
{
    struct filter *f = ctx;
    size_t n = space_dims(f->space)->n_dims;
    int rc;

    enter(f);
    rc = f->ops->tell(f->instance.self, f->next, id,
                      instance_lend(&f->instance, x, n), result);
    rc = leave(f, "tell", rc, TP_OK);
    return instance_take_back(&f->instance, "tell", rc, x, n, f->failure);
}

static int
filter_ended(void *ctx, uint64_t id, const double *x, int how)
{
    struct filter *f = ctx;
    size_t n = space_dims(f->space)->n_dims;
    int rc;

    enter(f);
    rc = f->ops->ended(f->instance.self, f->next, id,
                       instance_lend(&f->instance, x, n), how);
    rc = leave(f, "ended", rc, TP_OK);
    return instance_take_back(&f->instance, "ended", rc, x, n, f->failure);
}

static const char *
filter_why(void *ctx)
{
    const struct filter *f = ctx;

    return f->failure->text;
}

static int
filter_takes(void *ctx, const double *x)
{
    struct filter *f = ctx;
    int rc = f->ops->takes(f->instance.self, f->next, x);

    floatenv_restore();
    return rc != 0;
}

static int
check_label(const char *title, const char *label, struct err *err)
{
    size_t len = strnlen(label, FILTER_LABEL_MAX + 1);

    if (len == 0 || len > FILTER_LABEL_MAX)
        return err_set(err, ERR_PLUGIN,
                       "%s: ask: label '%.40s' has %s%d bytes, expected 1 to "
                       "%d",
                       title, label, len == 0 ? "" : "more than ",
                       len == 0 ? 0 : FILTER_LABEL_MAX, FILTER_LABEL_MAX);
    for (size_t i = 0; i < len; i++)
        if (label[i] < 0x20 || label[i] > 0x7e)
            return err_set(err, ERR_PLUGIN,
                           "%s: ask: label '%.40s' is not printable ASCII",
                           title, label);
    return 0;
}

static int
check_point(const char *title, const struct space *space, double *x,
            const struct tp_suggestion *lent, struct err *err)
{
    if (lent->x != x)
        return err_set(err, ERR_PLUGIN,
                       "%s: ask: it replaced out->x, expected to find the "
                       "point in the array that was there",
                       title);
    if (space_check(space, x, err) != 0) {
        if (err != NULL)
            err->code = ERR_PLUGIN;
        return err_place(err, "%s: ask", title);
    }
    return lent->label == NULL ? 0 : check_label(title, lent->label, err);
}

int
filter_taken(const char *title, const struct space *space, int rc,
             const struct tp_suggestion *lent, struct tp_suggestion *out,
             struct err *err)
{
    if (rc == TP_OK && check_point(title, space, out->x, lent, err) != 0)
        return TP_ERR;
    if (rc == TP_OK) {
        out->label = lent->label;
        out->budget = lent->budget;
        out->from = lent->from;
        out->from_how = lent->from_how;
    }
    return rc;
}

void
filter_clear(struct tp_suggestion *out)
{
    out->label = NULL;
    out->budget = 0;
    out->from = TP_NO_ID;
    out->from_how = TP_ANEW;
}

struct filter *
filter_new(const struct plugin_paths *paths, const char *name, struct jval args,
           uint64_t seed, const struct log *log, const struct tp_next *next,
           struct filter *inner, struct err *failure, struct err *err)
{
    struct filter *f = calloc(1, sizeof *f);

    if (f == NULL) {
        err_set(err, ERR_MEMORY, "filter %.100s: out of memory", name);
        return NULL;
    }
    if (instance_open(&f->instance, paths, PLUGIN_FILTER, name, args, seed, log,
                      err) != 0) {
        filter_free(f);
        return NULL;
    }
    f->ops = &f->instance.plugin->filter;
    f->next = next;
    f->failure = failure;
    f->inner = inner;
    f->layer = (struct tp_next){f,           filter_space, filter_ask,
                                filter_tell, filter_ended, filter_why,
                                filter_takes};
    return f;
}

void
filter_free(struct filter *f)
{
    while (f != NULL) {
        struct filter *inner = f->inner;

        instance_close(&f->instance);
        free(f);
        f = inner;
    }
}

int
filter_reserve(struct filter *f, size_t n_dims, struct err *err)
{
    for (; f != NULL; f = f->inner)
        if (instance_reserve(&f->instance, n_dims, err) != 0)
            return -1;
    return 0;
}

void
filter_set_space(struct filter *f, const struct space *space)
{
    for (; f != NULL; f = f->inner) {
        f->space = space;
        host_set_space(f->instance.host, space);
    }
}
