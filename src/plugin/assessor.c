/* SPDX-License-Identifier: MIT */
#include "plugin/assessor.h"

#include "core/err.h"
#include "core/pack.h"
#include "plugin/arguments.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "plugin/state.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct assessor {
    struct instance instance;
    const struct tp_assessor *ops; /* of the instance's plugin */
    bool barred; /* all calls fail, and do not reach the plugin */
};

struct assessor *
assessor_new(const struct plugin_paths *paths, const char *name,
             struct jval args, uint64_t seed, const struct log *log,
             struct err *err)
{
    struct assessor *a = calloc(1, sizeof *a);

    if (a == NULL) {
        err_set(err, ERR_MEMORY, "assessor %.100s: out of memory", name);
        return NULL;
    }
    if (instance_open(&a->instance, paths, PLUGIN_ASSESSOR, name, args, seed,
                      log, err) != 0) {
        assessor_free(a);
        return NULL;
    }
    a->ops = &a->instance.plugin->assessor;
    return a;
}

void
assessor_free(struct assessor *a)
{
    if (a == NULL)
        return;
    instance_close(&a->instance);
    free(a);
}

void
assessor_listen(struct assessor *a, const struct host_listener *listener)
{
    host_listen(a->instance.host, listener);
}

const struct plugin *
assessor_plugin(const struct assessor *a)
{
    return a->instance.plugin;
}

const char *
assessor_argument(const struct assessor *a, const char *name)
{
    return arguments_text(a->instance.args, name);
}

void
assessor_describe(const struct assessor *a, struct buf *out)
{
    instance_describe(&a->instance, out);
}

void
assessor_bar(struct assessor *a, bool barred)
{
    a->barred = barred;
}

static int
refuse_call(const struct assessor *a, const char *callback, struct err *err)
{
    return err_set(err, ERR_PLUGIN,
                   "%s: %s: not called, because it ended the dispatcher before",
                   a->instance.title, callback);
}

static void
verdict_go(struct tp_verdict *v)
{
    *v = (struct tp_verdict){
        ._struct_size = sizeof *v,
        .decision = TP_GO,
        .value = NAN,
        .threshold = NAN,
    };
}

int
assessor_assess(struct assessor *a, const struct tp_history *history,
                struct tp_verdict *out, struct err *err)
{
    struct tp_history copy = *history;
    int rc;

    copy._struct_size = sizeof copy;
    verdict_go(out);
    if (a->barred)
        return refuse_call(a, "assess", err);
    instance_enter(&a->instance);
    rc = a->ops->assess(a->instance.self, &copy, out);
    rc = instance_leave(&a->instance, "assess", rc, TP_OK, err);
    if (rc == 0 && out->decision != TP_GO && out->decision != TP_STOP)
        rc = err_set(err, ERR_PLUGIN,
                     "%s: assess: decision is %d, expected TP_GO (0) or "
                     "TP_STOP (1)",
                     a->instance.title, out->decision);
    if (rc != 0)
        verdict_go(out);
    return rc;
}

int
assessor_ended(struct assessor *a, const struct tp_history *history, int how,
               struct err *err)
{
    struct tp_history copy = *history;
    int rc;

    if (a->barred)
        return refuse_call(a, "ended", err);
    copy._struct_size = sizeof copy;
    instance_enter(&a->instance);
    rc = a->ops->ended(a->instance.self, &copy, how);
    return instance_leave(&a->instance, "ended", rc, TP_OK, err);
}

/* Histories as the plugin sees them, copies that are to be freed. */
struct lent {
    struct tp_history *copies;
    const struct tp_history **list;
};

static void
lent_free(struct lent *l)
{
    free(l->copies);
    free(l->list);
}

static int
lend(const struct assessor *a, const struct tp_history *const *living, size_t n,
     struct lent *out, struct err *err)
{
    out->copies = calloc(n + 1, sizeof *out->copies);
    out->list = calloc(n + 1, sizeof *out->list);
    if (out->copies == NULL || out->list == NULL) {
        lent_free(out);
        return err_set(err, ERR_MEMORY, "%s: out of memory", a->instance.title);
    }
    for (size_t i = 0; i < n; i++) {
        out->copies[i] = *living[i];
        out->copies[i]._struct_size = sizeof out->copies[i];
        out->list[i] = &out->copies[i];
    }
    return 0;
}

static int
save_all(struct assessor *a, const struct lent *lent, size_t n, struct buf *out,
         struct err *err)
{
    const struct tp_sink sink = state_sink(out);
    size_t begun;

    begun = state_begin(&a->instance, out);
    instance_enter(&a->instance);
    return state_end(&a->instance, begun,
                     a->ops->save(a->instance.self, lent->list, n, &sink), out,
                     err);
}

int
assessor_save(struct assessor *a, const struct tp_history *const *living,
              size_t n, struct buf *out, struct err *err)
{
    size_t len = out->len;
    struct lent lent;
    int rc;

    if (a->barred)
        return refuse_call(a, "save", err);
    if (a->ops->save == NULL)
        return 0;
    if (lend(a, living, n, &lent, err) != 0)
        return -1;
    rc = save_all(a, &lent, n, out, err);
    lent_free(&lent);
    if (rc == 0)
        return 1;
    out->len = len;
    return -1;
}

int
assessor_load(struct assessor *a, const struct tp_history *const *living,
              size_t n, struct unpack *state, struct err *err)
{
    struct tp_source source;
    struct unpack own;
    struct lent lent;
    int rc;

    for (size_t i = 0; i < n; i++)
        *living[i]->slot = NULL;
    if (a->barred)
        return refuse_call(a, "load", err);
    if (a->ops->load == NULL)
        return err_set(err, ERR_PLUGIN, "%s: load: it has none",
                       a->instance.title);
    if (state_open(&a->instance, state, &own, err) != 0 ||
        lend(a, living, n, &lent, err) != 0)
        return -1;
    source = state_source(&own);
    instance_enter(&a->instance);
    rc =
        state_close(&a->instance, &own,
                    a->ops->load(a->instance.self, lent.list, n, &source), err);
    lent_free(&lent);
    for (size_t i = 0; rc != 0 && i < n; i++)
        *living[i]->slot = NULL;
    return rc;
}
