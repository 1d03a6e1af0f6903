/* SPDX-License-Identifier: MIT */
/* DESIGN.  The plugin itself is the innermost struct tp_next, base_ask() and
 * its like; filters lie around it (filter.c).  Calls start at `top`, the
 * outermost, and what fails, wherever, fills `failure`. */
#include "plugin/tuner.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "objectives/objectives.h"
#include "plugin/arguments.h"
#include "plugin/demands.h"
#include "plugin/filter.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "plugin/loader.h"
#include "plugin/scalar.h"
#include "plugin/state.h"
#include "space/space.h"
#include "tunepipe/filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct tuner {
    struct instance instance;
    const struct tp_tuner *ops; /* of the instance's plugin */
    const struct space *space;  /* NULL: none yet, or it was refused */
    struct tp_next base;        /* the plugin as a layer */
    struct filter *filters;     /* the outermost filter; NULL: there is none */
    const struct tp_next *top;  /* the outermost layer */
    const struct objectives *objectives; /* NULL: results are one number */
    /* They as the plugin is told them, until it is destroyed. */
    struct tp_objectives told;
    struct tp_objective items[OBJECTIVES_MAX];
    bool scalarizes; /* several values, or limits, are made one */
    struct scalar scalar;
    bool barred;     /* all calls fail, and reach no layer */
    uint64_t served; /* the id that the plugin itself answered last with TP_OK;
                        TP_NO_ID: none, or one it should not have */
    struct tuner_terms terms;
    struct err failure;
};

static void tuner_open_demands(struct tuner *t, bool asks);
static int tuner_close_demands(struct tuner *t, const char *callback, int rc);
static int tuner_check_terms(struct tuner *t, uint64_t id,
                             const struct tp_suggestion *lent);
static void tuner_set_terms(struct tuner *t, uint64_t id,
                            const struct tp_suggestion *out);

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

/* ---- several values ---- */

/* Says in a line what becomes of several values, or of limits, for a plugin
 * that knows one number. */
static void
say_scalarized(const struct tuner *t, const struct log *log)
{
    if (t->objectives->n > 1)
        log_info(log, "%s takes one value: several are scalarized by %s",
                 t->instance.title, scalarize_name(t->objectives->how));
    else
        log_info(log,
                 "%s knows no limits on results: what is beyond one is told as "
                 "worse than all within",
                 t->instance.title);
}

int
tuner_objectives(struct tuner *t, const struct objectives *o,
                 const struct log *log, struct err *err)
{
    int rc;

    t->objectives = o;
    t->scalarizes = o->n > 1 || o->n_limits > 0;
    scalar_init(&t->scalar, o);
    if (t->ops->objectives == NULL) {
        if (t->scalarizes)
            say_scalarized(t, log);
        return 0;
    }
    for (size_t i = 0; i < o->n; i++)
        t->items[i] = (struct tp_objective){
            o->items[i].name, o->items[i].maximize, o->items[i].reference};
    t->told = (struct tp_objectives){sizeof t->told, o->n, sizeof *t->items,
                                     t->items, o->n_limits};
    instance_enter(&t->instance);
    rc = t->ops->objectives(t->instance.self, &t->told);
    rc = instance_leave(&t->instance, "objectives", rc, TP_OK, err);
    if (rc != 0 && err != NULL)
        err->code = ERR_CONFIG; /* another tuner is wanted */
    return rc;
}

/* The one number that is told beside the values, or in their place. */
static double
value_of(struct tuner *t, double value, const double *values, double violation)
{
    if (t->objectives == NULL || values == NULL)
        return value;
    return t->scalarizes ? scalar_take(&t->scalar, values, violation)
                         : values[0];
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

const char *
tuner_argument(const struct tuner *t, const char *name)
{
    return arguments_text(t->instance.args, name);
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
    struct json_writer w = json_begin(out);

    json_open_array(&w, NULL);
    for (const struct filter *f = t->filters; f != NULL; f = f->inner)
        instance_describe(&f->instance, json_value(&w, NULL));
    json_close(&w);
}

/* Makes the failure that the layers have left that of this call. */
static int
told(const struct tuner *t, int rc, struct err *err)
{
    if (rc == TP_ERR && err != NULL)
        *err = t->failure;
    return rc;
}

/* -1: the plugin and its filters are barred: err tells. */
static int
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

/* tuner_refuse_call(), which also refuses where there is no search space. */
static int
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
    copy.value = value_of(t, copy.value, copy.values, copy.violation);
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
tuner_plan(struct tuner *t, uint64_t trials, struct err *err)
{
    struct tp_plan plan = {sizeof plan, trials};
    int rc;

    if (t->ops->plan == NULL)
        return 0;
    if (tuner_may_call(t, "plan", err) != 0)
        return -1;
    instance_enter(&t->instance);
    rc = t->ops->plan(t->instance.self, &plan);
    return instance_leave(&t->instance, "plan", rc, TP_OK, err);
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

/* ---- what it says beside its answers ----
 *
 * What makes a tuner an advisor: how long trials run, and what they go on
 * from. */

static void
tuner_open_demands(struct tuner *t, bool asks)
{
    demands_open(host_demands(t->instance.host), asks, true);
}

/* Ends a call with demands.  Returns rc, or TP_ERR when the plugin demanded
 * something impossible: t->failure tells. */
static int
tuner_close_demands(struct tuner *t, const char *callback, int rc)
{
    struct demands *w = host_demands(t->instance.host);

    demands_close(w);
    if (rc == TP_ERR || w->fault[0] == '\0')
        return rc;
    return err_set(&t->failure, ERR_PLUGIN, "%s: %s: %s", t->instance.title,
                   callback, w->fault);
}

bool
tuner_next_decision(struct tuner *t, uint64_t *id, int *decision)
{
    struct demanded demanded;

    if (!demands_next(host_demands(t->instance.host), &demanded))
        return false;
    *id = demanded.id;
    *decision = demanded.decision;
    return true;
}

/* ---- what comes with a suggestion ---- */

#define BUDGET_KEY "TRIAL_BUDGET"

static int
refuse(struct tuner *t, const char *why)
{
    return err_set(&t->failure, ERR_PLUGIN, "%s: ask: %s", t->instance.title,
                   why);
}

/* Whether the space has a parameter of that name. */
static bool
space_has_key(const struct tuner *t, const char *key)
{
    const struct tp_space *s = space_dims(t->space);

    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);

        if (d->parent == TP_NO_PARENT && strcmp(d->name, key) == 0)
            return true;
    }
    return false;
}

static int
check_key(struct tuner *t, const char *key)
{
    const struct tp_space *s = space_dims(t->space);

    if (s->n_dims > 0 && (TP_DIM(s, 0)->flags & TP_DIM_WHOLE))
        return err_set(&t->failure, ERR_PLUGIN,
                       "%s: ask: '%.60s' beside a choice of whole sets of "
                       "parameters, expected none",
                       t->instance.title, key);
    if (!space_has_key(t, key))
        return 0;
    return err_set(&t->failure, ERR_PLUGIN,
                   "%s: ask: '%.60s' is a parameter of the search space: "
                   "rename that",
                   t->instance.title, key);
}

static int
check_keys(struct tuner *t, const struct tp_suggestion *lent)
{
    const struct demands *w = host_demands(t->instance.host);

    if (lent->budget > 0 && check_key(t, BUDGET_KEY) != 0)
        return -1;
    for (size_t i = 0; i < w->n_extras; i++) {
        if (strcmp(w->extras[i].key, BUDGET_KEY) == 0)
            return refuse(t, "extra '" BUDGET_KEY "': expected out->budget");
        if (check_key(t, w->extras[i].key) != 0)
            return -1;
    }
    return 0;
}

/* Checks what ask() left in `lent` besides the point. */
static int
tuner_check_terms(struct tuner *t, uint64_t id,
                  const struct tp_suggestion *lent)
{
    int how = lent->from_how;

    if (!isfinite(lent->budget) || lent->budget < 0)
        return err_set(&t->failure, ERR_PLUGIN,
                       "%s: ask: budget is %g, expected a finite positive "
                       "number, or 0",
                       t->instance.title, lent->budget);
    if (how != TP_ANEW && how != TP_PROMOTED && how != TP_CLONED)
        return err_set(&t->failure, ERR_PLUGIN,
                       "%s: ask: from_how is %d, expected TP_ANEW (0), "
                       "TP_PROMOTED (1) or TP_CLONED (2)",
                       t->instance.title, how);
    if ((how == TP_ANEW) != (lent->from == TP_NO_ID))
        return refuse(t, how == TP_ANEW
                             ? "from is set and from_how is TP_ANEW"
                             : "from is TP_NO_ID and from_how is not TP_ANEW");
    if (how != TP_ANEW && lent->from >= id)
        return err_set(&t->failure, ERR_PLUGIN,
                       "%s: ask: from is %" PRIu64 ", expected a suggestion "
                       "before %" PRIu64,
                       t->instance.title, lent->from, id);
    if (how != TP_ANEW && !tuner_advises(t))
        return refuse(t, "from is set, expected TP_NO_ID of a tuner without "
                         "metric");
    return check_keys(t, lent);
}

/* Keeps what the stack of layers has answered besides the point. */
static void
tuner_set_terms(struct tuner *t, uint64_t id, const struct tp_suggestion *out)
{
    const struct demands *w = host_demands(t->instance.host);

    t->terms = (struct tuner_terms){
        .own = t->served == id, .from = TP_NO_ID, .from_how = TP_ANEW};
    if (!t->terms.own)
        return;
    t->terms.budget = out->budget;
    t->terms.from = out->from;
    t->terms.from_how = out->from_how;
    t->terms.extras = w->extras;
    t->terms.n_extras = w->n_extras;
}

const struct tuner_terms *
tuner_terms(const struct tuner *t)
{
    return &t->terms;
}

/* ---- intermediate results ---- */

bool
tuner_advises(const struct tuner *t)
{
    return t->ops->metric != NULL;
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

static int
check_verdict(const struct tuner *t, const struct tp_verdict *v,
              struct err *err)
{
    if (v->decision >= TP_GO && v->decision <= TP_FINISH)
        return 0;
    return err_set(err, ERR_PLUGIN,
                   "%s: metric: decision is %d, expected TP_GO (0), TP_STOP "
                   "(1), TP_PAUSE (2) or TP_FINISH (3)",
                   t->instance.title, v->decision);
}

int
tuner_metric(struct tuner *t, uint64_t id, const double *x,
             const struct tp_metric *metric, struct tp_verdict *out,
             struct err *err)
{
    struct tp_metric lent = *metric;
    size_t n;
    int rc;

    verdict_go(out);
    if (tuner_may_call(t, "metric", err) != 0)
        return -1;
    n = space_dims(t->space)->n_dims;
    lent._struct_size = sizeof lent;
    lent.value = value_of(t, lent.value, lent.values, lent.violation);
    instance_enter(&t->instance);
    tuner_open_demands(t, false);
    rc = t->ops->metric(t->instance.self, id, instance_lend(&t->instance, x, n),
                        &lent, out);
    rc = instance_leave(&t->instance, "metric", rc, TP_OK, &t->failure);
    rc = tuner_close_demands(t, "metric", rc);
    rc = instance_take_back(&t->instance, "metric", rc, x, n, &t->failure);
    if (rc == TP_OK)
        rc = check_verdict(t, out, &t->failure);
    if (rc == TP_OK)
        return 0;
    verdict_go(out);
    if (err != NULL)
        *err = t->failure;
    return -1;
}

/* ---- saving ---- */

/* DESIGN.  Saving: each filter, the outermost first, then the tuner. */

static bool
can_save(const struct tuner *t)
{
    for (const struct filter *f = t->filters; f != NULL; f = f->inner)
        if (f->ops->save == NULL)
            return false;
    return t->ops->save != NULL && t->space != NULL;
}

/* Samples a point of the space and takes its key.  That differs when the space
 * is another one, or this build samples or compares points otherwise, so that a
 * saved state would mean something else. */
static int
fingerprint(const struct tuner *t, uint64_t key[2], struct err *err)
{
    double *x = malloc((space_dims(t->space)->n_dims + 1) * sizeof *x);

    if (x == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", t->instance.title);
    space_sample(t->space, 0, 0, x);
    space_key(t->space, x, key);
    free(x);
    return 0;
}

static int
save_layers(struct tuner *t, struct buf *out, struct err *err)
{
    uint64_t key[2];

    if (fingerprint(t, key, err) != 0)
        return -1;
    pack_u64(out, key[0]);
    pack_u64(out, key[1]);
    if (t->scalarizes)
        scalar_save(&t->scalar, out);
    for (struct filter *f = t->filters; f != NULL; f = f->inner)
        if (state_save(&f->instance, f->ops->save, out, err) != 0)
            return -1;
    return state_save(&t->instance, t->ops->save, out, err);
}

int
tuner_save(struct tuner *t, struct buf *out, struct err *err)
{
    size_t len = out->len;

    if (t->barred)
        return tuner_refuse_call(t, "save", err);
    if (!can_save(t))
        return 0;
    if (save_layers(t, out, err) == 0)
        return 1;
    out->len = len;
    return -1;
}

int
tuner_load(struct tuner *t, struct unpack *state, struct err *err)
{
    uint64_t key[2], saved[2];

    if (tuner_may_call(t, "load", err) != 0)
        return -1;
    if (!can_save(t))
        return err_set(err, ERR_PLUGIN,
                       "%s: load: it, or one of its filters, has none",
                       t->instance.title);
    if (fingerprint(t, key, err) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        saved[i] = unpack_u64(state);
    if (state->failed || saved[0] != key[0] || saved[1] != key[1])
        return err_set(err, ERR_PLUGIN,
                       "%s: the snapshot is of another search space, or of a "
                       "tunepipe that compares points otherwise",
                       t->instance.title);
    if (t->scalarizes && scalar_load(&t->scalar, state) != 0)
        return err_set(err, ERR_PLUGIN, "%s: the snapshot is damaged",
                       t->instance.title);
    for (struct filter *f = t->filters; f != NULL; f = f->inner)
        if (state_load(&f->instance, f->ops->load, state, err) != 0)
            return -1;
    return state_load(&t->instance, t->ops->load, state, err);
}
