/* SPDX-License-Identifier: MIT */
/* The tuner `anneal`: anneal.h behind the plugin interface.  What NNI does
 * around the algorithm is here: the sign of results, the lie about pending
 * points, and a draw of the prior in the place of parameters that were tried.
 */
#include "anneal/anneal.h"
#include "elementary.h"
#include "keyset/saved.h"
#include "prior/space.h"
#include "tunepipe/shell.h"
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
    [MODE] = TP_MODE("minimize", "whether larger results are better"),
    [PARALLEL] = TP_BOOL("parallel_optimize", false,
                         "true: pending trials count with a made-up result"),
    [LIE] = TP_ONE_OF("constant_liar_type", "min", "min|max|mean",
                      "which: the least, greatest or mean loss so far"),
    [SEED] = TP_SEED("seed of the random numbers"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->value() and key()");
    return tp_new(host, sizeof(struct shell));
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
    self->maximize = tp_maximizes(&values[MODE]);
    self->anneal = anneal_new(
        values[PARALLEL].integer ? lie_of(values[LIE].text) : ANNEAL_LIE_NONE,
        prior_host_random(self->host));
    return self->anneal != NULL ? TP_OK : tp_out_of_memory(self->host);
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
        return tp_out_of_memory(self->host);
    }
    self->repeats = can_repeat(&prior);
    if (anneal_space(self->anneal, &prior) != 0) {
        prior_fini(&prior);
        free(x);
        return tp_out_of_memory(self->host);
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
        value = tp_value_of(self->host, i, x[i]);
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

    if (!tp_explains(host))
        return;
    if (!o->has_base) {
        tp_explain(host, "a draw of the prior: no results yet");
        return;
    }
    if (o->base != ANNEAL_NO_ID)
        snprintf(who, sizeof who, "trial %llu", (unsigned long long)o->base);
    tp_explain(host, "near %s, number %zu of %llu, of %s %.9g", who,
               o->rank + 1, (unsigned long long)o->results,
               o->is_pending ? "assumed value" : "value",
               as_reported(self, o->base_loss));
    tp_explain(host, "within %.3g of each range or spread", o->shrink);
}

/* 1: those parameters are new, or need not be; -1: out of memory. */
static int
is_new(struct shell *self, const double *x)
{
    uint64_t key[2];

    if (!self->repeats || tp_key(self->host, x, key) != TP_OK)
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
        tp_explain(self->host, "those parameters had been tried: in their "
                               "place a draw of the prior");
        rc = is_new(self, out->x);
    }
    if (rc < 0 || anneal_pend(self->anneal, id, as_tried(self, out->x)) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct shell *self = vself;

    if (id != TP_NO_ID)
        anneal_unpend(self->anneal, id);
    else if (is_new(self, x) < 0)
        return tp_out_of_memory(self->host);
    return tp_ok_or_memory(
        self->host,
        anneal_tell(self->anneal, id == TP_NO_ID ? ANNEAL_NO_ID : id,
                    as_tried(self, x), as_reported(self, result->value)));
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

    tp_put_u64(sink, self->last_id);
    tp_put_u64(sink, self->again);
    anneal_save(self->anneal, sink);
    keyset_save(&self->tried, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *s)
{
    struct shell *self = vself;
    const char *wrong;

    if (tp_get_u64(s, &self->last_id) != TP_OK ||
        tp_get_u64(s, &self->again) != TP_OK)
        return tp_error(self->host, "what was saved is cut off");
    wrong = anneal_load(self->anneal, s);
    if (wrong == NULL)
        wrong = keyset_load(&self->tried, s);
    return tp_ok_unless(self->host, wrong);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "anneal",
    .doc = "draws near the best trials, ever nearer",
    .version = 1,
    .args = TP_ARGS(args),
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
