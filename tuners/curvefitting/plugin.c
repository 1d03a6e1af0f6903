/* SPDX-License-Identifier: MIT */
/* The assessor `curvefitting`: curvefitting.h behind the plugin interface.  A
 * trial's slot holds no pointer but the number of values it had when it was
 * judged last. */
#include "curvefitting/curvefitting.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct curvefitting rule;
};

enum { EPOCHS, START_STEP, THRESHOLD, GAP, MODE, SEED, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [EPOCHS] =
        TP_INT("epoch_num", 20, 1, 1e9,
               "values a whole trial reports: where the curve is read off"),
    [START_STEP] = TP_INT("start_step", 6, 0, 1e9,
                          "values a trial has to report before it is judged"),
    [THRESHOLD] = TP_DOUBLE("threshold", 0.95, 0, 1e9,
                            "share of the best value that has to be in reach"),
    [GAP] = TP_INT("gap", 1, 1, 1e9, "values from one judgement to the next"),
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [SEED] = TP_SEED("seed of the random numbers"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;

    (void)n;
    self->rule = (struct curvefitting){
        .maximize = tp_maximizes(&values[MODE]),
        .target = values[EPOCHS].number,
        .threshold = values[THRESHOLD].number,
        .start_step = (size_t)values[START_STEP].integer,
        .gap = (size_t)values[GAP].integer,
    };
    return TP_OK;
}

/* Random numbers of one judgement: the trial, its values, and what predict()
 * counts. */
struct judgement {
    const struct tp_host *host;
    uint64_t trial;
    uint32_t n;
};

static double
uniform(void *ctx, uint32_t b, uint32_t draw)
{
    const struct judgement *j = ctx;

    return tp_uniform(j->host, j->trial, j->n, b * (N_CURVES + 1) + draw);
}

static void
explain_curves(const struct tp_host *host, const struct prediction *p,
               double sign)
{
    char text[400];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->n_agreed && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %.6g",
                               i > 0 ? ", " : "", curves[p->agreed[i]].name,
                               sign * p->at_target[i]);
    tp_explain(host,
               "%zu of %d curves could be fitted, %zu agree with each "
               "other%s%s",
               p->n_fitted, N_CURVES, p->n_agreed, p->n_agreed > 0 ? ": " : "",
               text);
}

static void
explain(const struct shell *self, size_t n,
        const struct curvefitting_verdict *v)
{
    const struct tp_host *host = self->host;
    const struct curvefitting *c = &self->rule;

    if (!tp_explains(host))
        return;
    switch (v->reason) {
    case CURVEFITTING_NO_BEST:
        tp_explain(host, "not judged: no trial has succeeded yet");
        return;
    case CURVEFITTING_EARLY:
        tp_explain(host, "not judged: %zu values, fewer than start_step", n);
        return;
    case CURVEFITTING_GAP:
        tp_explain(host, "not judged: too few values since it was judged last: "
                         "see gap");
        return;
    case CURVEFITTING_NOT_FINITE:
        tp_explain(host, "not judged: a value is not finite");
        return;
    case CURVEFITTING_NO_PREDICTION:
        tp_explain(host, "no prediction: fewer than 4 curves agree");
        break;
    case CURVEFITTING_JUDGED:
        tp_explain(host,
                   "predicted for %.0f values: %.9g; the best trial "
                   "ended with %.9g, which times %g allows %.9g",
                   c->target, v->predicted, v->best, c->threshold, v->limit);
        break;
    }
    explain_curves(host, &v->prediction, c->maximize ? 1 : -1);
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct judgement j = {self->host, h->trial, (uint32_t)h->n};
    struct predict_random random = {uniform, &j};
    size_t judged = (size_t)(uintptr_t)*h->slot;
    struct curvefitting_verdict v;

    if (curvefitting_assess(&self->rule, h->values, h->n, &judged, &random,
                            &v) != 0)
        return tp_out_of_memory(self->host);
    *h->slot = (void *)(uintptr_t)judged;
    explain(self, h->n, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.predicted;
    out->threshold = v.limit;
    if (v.stop)
        out->rule = self->rule.maximize
                        ? "predicted value not above threshold of the best"
                        : "predicted value not below threshold of the best";
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct shell *self = vself;

    if (how == TP_TRIAL_SUCCEEDED && h->n > 0)
        curvefitting_succeeded(&self->rule, h->values, h->n);
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;

    tp_put_u64(sink, self->rule.has_best);
    tp_put_f64(sink, self->rule.best);
    for (size_t i = 0; i < n; i++)
        tp_put_u64(sink, (uint64_t)(uintptr_t)*living[i]->slot);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *s)
{
    struct shell *self = vself;
    uint64_t has_best, judged;
    int rc = tp_get_u64(s, &has_best);

    if (rc == TP_OK)
        rc = tp_get_f64(s, &self->rule.best);
    if (has_best > 1 || !isfinite(self->rule.best))
        rc = TP_ERR;
    self->rule.has_best = has_best;
    for (size_t i = 0; rc == TP_OK && i < n; i++) {
        rc = tp_get_u64(s, &judged);
        if (judged > living[i]->n)
            rc = TP_ERR;
        *living[i]->slot = (void *)(uintptr_t)judged;
    }
    if (rc != TP_OK)
        tp_error(self->host, "what was saved is cut off or damaged");
    return rc;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "curvefitting",
    .doc = "stops a trial whose learning curve will not come near the best",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
