/* SPDX-License-Identifier: MIT */
/* What makes a tuner an advisor: how long trials run, and what they go on
 * from. */
#include "core/err.h"
#include "plugin/host.h"
#include "plugin/loader.h"
#include "plugin/tuner.h"
#include "plugin/tuner_state.h"
#include "plugin/demands.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- what it says beside its answers ---- */

void
tuner_open_demands(struct tuner *t, bool asks)
{
    demands_open(host_demands(t->instance.host), asks, true);
}

int
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

/* Whether a trial finds a parameter of the space under that key. */
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

int
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

void
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
