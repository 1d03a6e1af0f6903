/* SPDX-License-Identifier: MIT */
/* The tuner `tpe`: tpe.h behind the plugin interface. */
#include "tpe/carry.h"
#include "tpe/several.h"
#include "tpe/tpe.h"
#include "tunepipe/shell.h"
#include "tunepipe/tuner.h"

#include <math.h>
#include <stdlib.h>

#define GOOD_MOST 25 /* without an argument */

struct tpe_tuner {
    const struct tp_host *host;
    struct tpe_options options;
    struct tpe *tpe; /* NULL before space() */
    struct carrier carrier;
    const struct tp_objectives *objectives; /* NULL: results are one value */
    struct several several;
};

enum {
    ARG_MODE,
    ARG_SEED,
    ARG_LIAR,
    ARG_STARTUP,
    ARG_CANDIDATES,
    ARG_FORGETTING,
    ARG_PRIOR,
    ARG_GAMMA
};

static const struct tp_arg args[] = {
    TP_MODE("minimize", "which values are good"),
    TP_SEED("seed of the random numbers"),
    {"tpe_args.constant_liar_type", TP_ARG_STRING, 1, "\"worst\"", 0, 0,
     "best|worst|mean|none",
     "what is assumed of running trials; none or null: nothing (NNI: best)"},
    TP_INT("tpe_args.n_startup_jobs", 10, 1, 1e6,
           "results before the model begins; before, the prior is sampled "
           "(NNI: 20)"),
    TP_INT("tpe_args.n_ei_candidates", 24, 1, 4096,
           "points drawn for each suggestion"),
    TP_INT_OR_NULL(
        "tpe_args.linear_forgetting", 1, 1e6,
        "not more results are good, and so many of the latest others count in "
        "full, older ones less; null: 25 and all (NNI: 25)"),
    TP_DOUBLE("tpe_args.prior_weight", 1, 1e-6, 1e6,
              "weight of the prior, in results"),
    TP_DOUBLE_OR_NULL(
        "tpe_args.gamma", 1e-6, 1e6,
        "of n results gamma * sqrt(n) are good; null: n / 5 (NNI: 0.25)"),
};

static void *
create(const struct tp_host *host)
{
    if (!TP_HAS(host, key))
        return tp_too_old(host, "host->value() and key()");
    return tp_new(host, sizeof(struct tpe_tuner));
}

static void
destroy(void *vself)
{
    struct tpe_tuner *self = vself;

    tpe_free(self->tpe);
    tpe_carrier_fini(&self->carrier);
    tpe_several_fini(&self->several);
    free(self);
}

static enum tpe_liar
liar_of(const struct tp_value *v)
{
    if (v->is_null)
        return TPE_LIAR_NONE;
    switch (v->text[0]) {
    case 'b':
        return TPE_LIAR_BEST;
    case 'm':
        return TPE_LIAR_MEAN;
    case 'n':
        return TPE_LIAR_NONE;
    default:
        return TPE_LIAR_WORST;
    }
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct tpe_tuner *self = vself;
    const struct tp_value *forgetting = &values[ARG_FORGETTING];

    (void)n;
    self->options = (struct tpe_options){
        .maximize = tp_maximizes(&values[ARG_MODE]),
        .liar = liar_of(&values[ARG_LIAR]),
        .startup = (size_t)values[ARG_STARTUP].integer,
        .candidates = (size_t)values[ARG_CANDIDATES].integer,
        .forgetting = (size_t)tp_integer_or(forgetting, 0),
        .good_most = (size_t)tp_integer_or(forgetting, GOOD_MOST),
        .prior = values[ARG_PRIOR].number,
        .gamma = tp_number_or(&values[ARG_GAMMA], 0),
    };
    return TP_OK;
}

static int
objectives(void *vself, const struct tp_objectives *of)
{
    struct tpe_tuner *self = vself;

    if (of->n == 1 && of->n_limits == 0)
        return TP_OK; /* `value` is it */
    if (of->n > SEVERAL_MAX)
        return tp_error(self->host, "%zu objectives, expected at most %d",
                        of->n, SEVERAL_MAX);
    self->objectives = of;
    self->several.n_costs = of->n;
    self->options.maximize = false;
    return TP_OK;
}

/* What is known of parameters that the new space has, too, stays known. */
static int
space(void *vself, const struct tp_space *s)
{
    struct tpe_tuner *self = vself;
    struct axis *axes = tpe_axes_of(s);
    struct tpe *t =
        axes == NULL ? NULL : tpe_new(&self->options, axes, s->n_dims);

    free(axes);
    if (t == NULL || tpe_carrier_move(&self->carrier, self->host, s, t->axes,
                                      &t->points, tpe_copy, t) != 0) {
        tpe_free(t);
        return tp_out_of_memory(self->host);
    }
    tpe_free(self->tpe);
    self->tpe = t;
    return TP_OK;
}

static void
explain(const struct tpe_tuner *self, const struct tpe_reason *why)
{
    const struct tp_host *host = self->host;

    if (why == NULL) {
        tp_explain(host,
                   "a sample of the prior: %zu results of the %zu that "
                   "the model begins with",
                   tpe_points_ranked(&self->tpe->points),
                   self->options.startup);
        return;
    }
    tp_explain(host,
               "draw %zu from the model of what was good (%zu of %zu "
               "results): log density %.4g above that of the rest (%zu "
               "points, running trials among them)",
               why->candidate + 1, why->n_good,
               tpe_points_ranked(&self->tpe->points), why->score, why->n_rest);
    if (why->twins > 0)
        tp_explain(host, "%zu draws were left out: tried before", why->twins);
}

/* Of several costs: which results are good; level(): none is any more. */
static int
order(struct tpe_tuner *self)
{
    struct points *p = &self->tpe->points;
    size_t want = tpe_n_good(&self->options, tpe_points_ranked(p));

    return self->objectives == NULL
               ? 0
               : tpe_several_order(&self->several, p, want);
}

static void
level(struct tpe_tuner *self)
{
    if (self->objectives != NULL)
        tpe_several_level(&self->tpe->points);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct tpe_tuner *self = vself;
    const struct tp_host *host = self->host;
    struct tpe_reason why;
    bool again = self->tpe->points.asked == id;

    if (!again && !tpe_is_ready(self->tpe)) {
        tp_sample(host, id, out->x);
        tpe_points_ask(&self->tpe->points, id);
        explain(self, NULL);
    } else {
        int rc = order(self);

        if (rc == 0)
            rc = tpe_ask(self->tpe, host->uniform, host->ctx, id, out->x, &why);
        level(self);
        if (rc != 0)
            return tp_out_of_memory(self->host);
        explain(self, &why);
    }
    return tp_ok_or_memory(self->host, tpe_open(self->tpe, id, out->x));
}

static int
score(void *vself, const double *const *points, size_t n, double *out)
{
    struct tpe_tuner *self = vself;

    int rc = order(self);

    if (rc == 0)
        rc = tpe_score(self->tpe, points, n, out);
    level(self);
    return tp_ok_or_memory(self->host, rc);
}

/* Less is better of each; what is not finite, or missing, makes a failure of
 * the result. */
static int
tell_several(struct tpe_tuner *self, uint64_t id, const double *x,
             enum tpe_how how, const struct tp_result *result)
{
    size_t n = self->several.n_costs, i;
    struct points *p = &self->tpe->points;
    double costs[SEVERAL_MAX], value = 0;
    uint32_t row;

    for (size_t k = 0; k < n; k++) {
        double v = result->values == NULL ? (double)NAN : result->values[k];

        costs[k] = TP_OBJECTIVE(self->objectives, k)->maximize ? -v : v;
        value = isfinite(v) ? value : (double)NAN;
    }
    if (tpe_several_add(&self->several, costs, result->violation, &row) != 0 ||
        tpe_tell(self->tpe, id, x, how, value, result->step) != 0)
        return -1;
    i = id == POINTS_NO_ID ? p->n - 1 : tpe_points_find(p, id);
    p->all[i].row = row;
    return 0;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct tpe_tuner *self = vself;
    enum tpe_how how =
        result->how == TP_RESULT_STOPPED ? TPE_STOPPED : TPE_FINAL;

    int rc = tpe_carrier_tell(&self->carrier, id, x);

    if (rc == 0 && self->objectives != NULL)
        rc = tell_several(self, id, x, how, result);
    else if (rc == 0)
        rc = tpe_tell(self->tpe, id, x, how, result->value, result->step);
    return tp_ok_or_memory(self->host, rc);
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct tpe_tuner *self = vself;

    return tp_ok_or_memory(self->host,
                           tpe_carrier_ended(&self->carrier, id, x, how));
}

static int
save(void *vself, const struct tp_sink *sink)
{
    const struct tpe_tuner *self = vself;

    tpe_save(self->tpe, sink);
    if (self->objectives != NULL)
        tpe_several_save(&self->several, &self->tpe->points, sink);
    return TP_OK;
}

/* A point of this space, or one whose parameters are not tried any more. */
static int
load(void *vself, const struct tp_source *source)
{
    struct tpe_tuner *self = vself;
    const char *why = tpe_load(self->tpe, source);

    if (why == NULL && self->objectives != NULL)
        why = tpe_several_load(&self->several, &self->tpe->points, source);
    if (why == NULL && tpe_carrier_load(&self->carrier) != 0)
        why = "out of memory";
    return tp_ok_unless(self->host, why);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "tpe",
    .doc = "models good and bad results, and tries what is likelier good "
           "(TPE)",
    .version = 1,
    .flags = TP_TUNER_DEDUP,
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
    .score = score,
    .objectives = objectives,
};
TP_REGISTER_TUNER(tuner)
