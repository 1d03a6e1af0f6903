/* SPDX-License-Identifier: MIT */
/* The tuner `anneal`: anneal.h behind the plugin interface.  What NNI does
 * around the algorithm is here: the sign of results, the lie about pending
 * points, and a draw of the prior in the place of parameters that were tried.
 */
#include "anneal/anneal.h"
#include "anneal/state.h"
#include "elementary.h"
#include "keyset/saved.h"
#include "prior/space.h"
#include "tunepipe/tuner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct anneal *anneal;
    size_t n_dims;
    double *x; /* scratch: as trials saw it */
    bool maximize;
    bool repeats; /* parameters may come twice in this space */
    struct keyset tried;
    uint64_t last_id; /* asked for last, and so often before */
    uint64_t again;
};

enum { MODE, PARALLEL, LIE, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"minimize\"", 0, 0,
              "maximize|minimize", "whether larger results are better"},
    [PARALLEL] = {"parallel_optimize", TP_ARG_BOOL, 0, "false", 0, 0, NULL,
                  "true: pending trials count with a made-up result"},
    [LIE] = {"constant_liar_type", TP_ARG_STRING, 0, "\"min\"", 0, 0,
             "min|max|mean", "which: the least, greatest or mean loss so far"},
    [SEED] = {"seed", TP_ARG_SEED, 1, "null", 0, 0, NULL,
              "seed of the random numbers; null: the experiment's"},
};

static int
fail(const struct shell *self, const char *why)
{
    self->host->error(self->host->ctx, "%s", why);
    return TP_ERR;
}

static void *
create(const struct tp_host *host)
{
    struct shell *self;

    if (!TP_HAS(host, key)) {
        host->error(host->ctx, "this program is too old: it has no "
                               "host->value() and key()");
        return NULL;
    }
    self = calloc(1, sizeof *self);
    if (self == NULL)
        host->error(host->ctx, "out of memory");
    else
        self->host = host;
    return self;
}

static void
destroy(void *vself)
{
    struct shell *self = vself;

    anneal_free(self->anneal);
    keyset_fini(&self->tried);
    free(self->x);
    free(self);
}

static enum anneal_lie
lie_of(const char *text)
{
    if (strcmp(text, "max") == 0)
        return ANNEAL_LIE_MAX;
    return strcmp(text, "mean") == 0 ? ANNEAL_LIE_MEAN : ANNEAL_LIE_MIN;
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;

    (void)n;
    self->maximize = strcmp(values[MODE].text, "maximize") == 0;
    self->anneal = anneal_new(
        values[PARALLEL].integer ? lie_of(values[LIE].text) : ANNEAL_LIE_NONE,
        prior_host_random(self->host));
    return self->anneal != NULL ? TP_OK : fail(self, "out of memory");
}

/* A continuous parameter that is always there never repeats itself. */
static bool
can_repeat(const struct prior *p)
{
    for (size_t i = 0; i < p->n_dims; i++) {
        const struct prior_dim *d = &p->dims[i];

        if (d->parent == PRIOR_NO_PARENT && d->n_choices == 0 && !d->is_q &&
            (d->is_normal ? d->sigma > 0 : d->low < d->high))
            return false;
    }
    return true;
}

static int
space(void *vself, const struct tp_space *s)
{
    struct shell *self = vself;
    double *x = calloc(s->n_dims + 1, sizeof *x);
    struct prior prior;

    if (x == NULL || prior_of_space(&prior, s) != 0) {
        free(x);
        return fail(self, "out of memory");
    }
    self->repeats = can_repeat(&prior);
    if (anneal_space(self->anneal, &prior) != 0) {
        prior_fini(&prior);
        free(x);
        return fail(self, "out of memory");
    }
    free(self->x);
    self->x = x;
    self->n_dims = s->n_dims;
    self->last_id = TP_NO_ID;
    return TP_OK;
}

/* hyperopt goes by the values that trials were given, rounded ones where they
 * are rounded.  0 has no logarithm: there the unrounded one stays. */
static const double *
as_tried(const struct shell *self, const double *x)
{
    for (size_t i = 0; i < self->n_dims; i++) {
        const struct prior_dim *d = &self->anneal->prior.dims[i];
        double value;

        self->x[i] = x[i];
        if (!d->is_q || isnan(x[i]))
            continue;
        value = self->host->value(self->host->ctx, i, x[i]);
        if (!d->is_log && isfinite(value))
            self->x[i] = value;
        else if (d->is_log && value > 0 && isfinite(value))
            self->x[i] = num_log(value);
    }
    return self->x;
}

static double
as_reported(const struct shell *self, double loss)
{
    return self->maximize ? -loss : loss;
}

static void
explain(const struct shell *self, const struct anneal_origin *o)
{
    const struct tp_host *host = self->host;
    char who[64] = "an imported point";

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    if (!o->has_base) {
        host->explain(host->ctx, "a draw of the prior: no results yet");
        return;
    }
    if (o->base != ANNEAL_NO_ID)
        snprintf(who, sizeof who, "trial %llu", (unsigned long long)o->base);
    host->explain(host->ctx, "near %s, number %zu of %llu, of %s %.9g", who,
                  o->rank + 1, (unsigned long long)o->results,
                  o->is_pending ? "assumed value" : "value",
                  as_reported(self, o->base_loss));
    host->explain(host->ctx, "within %.3g of each range or spread", o->shrink);
}

/* 1: those parameters are new, or need not be; -1: out of memory. */
static int
is_new(struct shell *self, const double *x)
{
    uint64_t key[2];

    if (!self->repeats || self->host->key(self->host->ctx, x, key) != TP_OK)
        return 1;
    return keyset_add(&self->tried, key, NULL);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct shell *self = vself;
    struct anneal_origin origin;
    int rc;

    self->again = id == self->last_id ? self->again + 1 : 0;
    self->last_id = id;
    anneal_ask(self->anneal, id, (uint32_t)self->again, out->x, &origin);
    explain(self, &origin);
    rc = is_new(self, out->x);
    if (rc == 0) {
        anneal_random(self->anneal, id, (uint32_t)self->again, out->x);
        if (TP_HAS(self->host, explain))
            self->host->explain(self->host->ctx,
                                "those parameters had been tried: in their "
                                "place a draw of the prior");
        rc = is_new(self, out->x);
    }
    if (rc < 0 || anneal_pend(self->anneal, id, as_tried(self, out->x)) != 0)
        return fail(self, "out of memory");
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    if (id != TP_NO_ID)
        anneal_unpend(self->anneal, id);
    else if (is_new(self, x) < 0)
        return fail(self, "out of memory");
    if (anneal_tell(self->anneal, id == TP_NO_ID ? ANNEAL_NO_ID : id,
                    as_tried(self, x), as_reported(self, result->value)) != 0)
        return fail(self, "out of memory");
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct shell *self = vself;

    (void)x;
    (void)how;
    anneal_unpend(self->anneal, id);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    struct shell *self = vself;

    sink->u64(sink->ctx, self->last_id);
    sink->u64(sink->ctx, self->again);
    anneal_save(self->anneal, sink);
    keyset_save(&self->tried, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *s)
{
    struct shell *self = vself;
    const char *wrong;

    if (s->u64(s->ctx, &self->last_id) != TP_OK ||
        s->u64(s->ctx, &self->again) != TP_OK)
        return fail(self, "what was saved is cut off");
    wrong = anneal_load(self->anneal, s);
    if (wrong == NULL)
        wrong = keyset_load(&self->tried, s);
    return wrong == NULL ? TP_OK : fail(self, wrong);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "anneal",
    .doc = "draws near the best trials, ever nearer",
    .version = 1,
    .args = args,
    .n_args = N_ARGS,
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .config = config,
    .space = space,
    .ask = ask,
    .tell = tell,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
