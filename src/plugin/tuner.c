/* SPDX-License-Identifier: MIT */
#include "plugin/tuner.h"

#include "core/err.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tuner {
    struct instance instance;
    const struct tp_tuner *ops; /* of the instance's plugin */
    const struct space *space;  /* NULL: none yet, or it was refused */
};

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
    return t;
}

void
tuner_free(struct tuner *t)
{
    if (t == NULL)
        return;
    instance_close(&t->instance);
    free(t);
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

static int
give_space(struct tuner *t, const struct space *space, struct err *err)
{
    int rc;

    host_set_space(t->instance.host, space);
    instance_enter(&t->instance);
    rc = t->ops->space(t->instance.self, space_dims(space));
    return instance_leave(&t->instance, "space", rc, TP_OK, err);
}

int
tuner_space(struct tuner *t, const struct space *space, struct err *err)
{
    const struct space *before = t->space;

    t->space = space;
    if (give_space(t, space, err) == 0)
        return 0;
    t->space = before;
    if (before == NULL || give_space(t, before, NULL) != 0) {
        t->space = NULL;
        host_set_space(t->instance.host, NULL);
    }
    return -1;
}

static int
need_space(const struct tuner *t, const char *callback, struct err *err)
{
    if (t->space != NULL)
        return 0;
    return err_set(err, ERR_PLUGIN, "%s: %s: it has no search space",
                   t->instance.title, callback);
}

/* A label becomes an id on the wire. */
static int
copy_label(const struct tuner *t, const char *label, char **out,
           struct err *err)
{
    size_t len = strnlen(label, TUNER_LABEL_MAX + 1);

    if (len == 0 || len > TUNER_LABEL_MAX)
        return err_set(err, ERR_PLUGIN,
                       "%s: ask: label '%.40s' has %s%d bytes, expected 1 to "
                       "%d",
                       t->instance.title, label, len == 0 ? "" : "more than ",
                       len == 0 ? 0 : TUNER_LABEL_MAX, TUNER_LABEL_MAX);
    for (size_t i = 0; i < len; i++)
        if (label[i] < 0x20 || label[i] > 0x7e)
            return err_set(err, ERR_PLUGIN,
                           "%s: ask: label '%.40s' is not printable ASCII",
                           t->instance.title, label);
    *out = strdup(label);
    if (*out == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", t->instance.title);
    return 0;
}

int
tuner_ask(struct tuner *t, uint64_t id, double *x, char **label,
          struct err *err)
{
    struct tp_suggestion out = {._struct_size = sizeof out, .x = x};
    int rc;

    *label = NULL;
    if (need_space(t, "ask", err) != 0)
        return TP_ERR;
    for (size_t i = 0; i < space_dims(t->space)->n_dims; i++)
        x[i] = NAN;
    instance_enter(&t->instance);
    rc = t->ops->ask(t->instance.self, id, &out);
    rc = instance_leave(&t->instance, "ask", rc, TP_DONE, err);
    if (rc != TP_OK)
        return rc;
    if (out.x != x)
        return err_set(err, ERR_PLUGIN,
                       "%s: ask: it replaced out->x, expected to find the "
                       "point in the array that was there",
                       t->instance.title);
    if (space_check(t->space, x, err) != 0) {
        if (err != NULL)
            err->code = ERR_PLUGIN;
        return err_place(err, "%s: ask", t->instance.title);
    }
    return out.label == NULL ? TP_OK : copy_label(t, out.label, label, err);
}

int
tuner_tell(struct tuner *t, uint64_t id, const double *x,
           const struct tp_result *result, struct err *err)
{
    struct tp_result copy = *result;
    int rc;

    if (need_space(t, "tell", err) != 0)
        return -1;
    copy._struct_size = sizeof copy;
    instance_enter(&t->instance);
    rc = t->ops->tell(t->instance.self, id, x, &copy);
    return instance_leave(&t->instance, "tell", rc, TP_OK, err);
}

int
tuner_ended(struct tuner *t, uint64_t id, const double *x, int how,
            struct err *err)
{
    int rc;

    if (need_space(t, "ended", err) != 0)
        return -1;
    instance_enter(&t->instance);
    rc = t->ops->ended(t->instance.self, id, x, how);
    return instance_leave(&t->instance, "ended", rc, TP_OK, err);
}
