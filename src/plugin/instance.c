/* SPDX-License-Identifier: MIT */
#include "plugin/instance.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/grow.h"
#include "core/problems.h"
#include "numerics/random.h"
#include "plugin/arguments.h"
#include "plugin/floatenv.h"
#include "plugin/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
parse_arguments(struct instance *i, struct jval object, struct err *err)
{
    struct problems problems;
    char where[sizeof i->title + 16];
    int rc = 0;

    snprintf(where, sizeof where, "%s: %s", i->title,
             i->plugin->kind == PLUGIN_FILTER ? "args" : "classArgs");
    problems_init(&problems);
    i->args = arguments_parse(i->plugin->args, i->plugin->n_args, object, where,
                              &problems);
    if (i->args == NULL)
        rc = problems_join(&problems, err);
    problems_fini(&problems);
    return rc;
}

/* The callbacks that all kinds have. */
struct common {
    void *(*create)(const struct tp_host *host);
    void (*destroy)(void *self);
    int (*config)(void *self, const struct tp_value *values, size_t n);
    uint32_t purpose; /* of random numbers */
};

static struct common
common_of(const struct plugin *p)
{
    switch (p->kind) {
    case PLUGIN_TUNER:
        return (struct common){p->tuner.create, p->tuner.destroy,
                               p->tuner.config, RANDOM_TUNER};
    case PLUGIN_ASSESSOR:
        return (struct common){p->assessor.create, p->assessor.destroy,
                               p->assessor.config, RANDOM_ASSESSOR};
    case PLUGIN_FILTER:
        break;
    }
    return (struct common){p->filter.create, p->filter.destroy,
                           p->filter.config, RANDOM_FILTER};
}

static int
create(struct instance *i, struct err *err)
{
    struct common calls = common_of(i->plugin);
    int rc;

    instance_enter(i);
    i->self = calls.create(host_services(i->host));
    if (instance_leave(i, "create", i->self == NULL ? TP_ERR : TP_OK, TP_OK,
                       err) != 0)
        return -1;
    instance_enter(i);
    rc = calls.config(i->self, arguments_values(i->args), i->plugin->n_args);
    return instance_leave(i, "config", rc, TP_OK, err);
}

int
instance_open(struct instance *i, const struct plugin_paths *paths,
              enum plugin_kind kind, const char *name, struct jval args,
              uint64_t seed, const struct log *log, struct err *err)
{
    *i = (struct instance){.seed = seed};
    i->plugin = plugin_load(paths, kind, name, err);
    if (i->plugin == NULL)
        return -1;
    snprintf(i->title, sizeof i->title, "%s %s", plugin_kind_name(kind),
             i->plugin->name);
    if (parse_arguments(i, args, err) != 0)
        return -1;
    arguments_seed(i->args, &i->seed);
    i->host =
        host_new(i->title, i->seed, common_of(i->plugin).purpose, log, err);
    if (i->host == NULL)
        return -1;
    return create(i, err);
}

void
instance_close(struct instance *i)
{
    if (i->self != NULL) {
        common_of(i->plugin).destroy(i->self);
        floatenv_restore();
    }
    host_free(i->host);
    arguments_free(i->args);
    free(i->lent);
    plugin_unload(i->plugin);
    *i = (struct instance){0};
}

void
instance_enter(struct instance *i)
{
    host_clear_error(i->host);
}

int
instance_leave(struct instance *i, const char *callback, int rc, int most,
               struct err *err)
{
    floatenv_restore();
    if (rc >= 0 && rc <= most)
        return rc;
    if (rc == TP_ERR)
        return host_tell_error(i->host, callback, err);
    return err_set(err, ERR_PLUGIN,
                   "%s: %s: returned %d, expected TP_OK (0)%s or TP_ERR (-1)",
                   i->title, callback, rc,
                   most == TP_OK ? "" : ", TP_LATER (1), TP_DONE (2)");
}

int
instance_reserve(struct instance *i, size_t n_dims, struct err *err)
{
    if (i->lent != NULL && n_dims <= i->n_lent)
        return 0;
    if (grow_to(&i->lent, n_dims, sizeof *i->lent) != 0)
        return err_set(err, ERR_MEMORY, "%s: out of memory", i->title);
    i->n_lent = n_dims;
    return 0;
}

const double *
instance_lend(struct instance *i, const double *x, size_t n_dims)
{
    memcpy(i->lent, x, n_dims * sizeof *x);
    return i->lent;
}

int
instance_take_back(const struct instance *i, const char *callback, int rc,
                   const double *x, size_t n_dims, struct err *err)
{
    if (rc != TP_OK || memcmp(i->lent, x, n_dims * sizeof *x) == 0)
        return rc;
    return err_set(err, ERR_PLUGIN,
                   "%s: %s: it changed the x it was lent, expected to work on "
                   "a copy",
                   i->title, callback);
}

void
instance_describe(const struct instance *i, struct buf *out)
{
    const struct plugin *p = i->plugin;
    const char *slash = strrchr(p->file, '/');
    const char *file = slash != NULL ? slash + 1 : p->file;

    struct json_writer w = json_begin_object(out);

    json_add_text(&w, "name", p->name);
    json_add_unsigned(&w, "version", p->version);
    json_add_text(&w, "file", file);
    json_add_unsigned(&w, "seed", i->seed);
    arguments_write(i->args, json_value(&w, "arguments"));
    json_close(&w);
}
