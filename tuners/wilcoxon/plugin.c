/* SPDX-License-Identifier: MIT */
/* The assessor `wilcoxon`: wilcoxon.h behind the plugin interface. */
#include "tunepipe/assessor.h"
#include "wilcoxon/wilcoxon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct wilcoxon rule;
};

enum { MODE, P_THRESHOLD, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger values are better"},
    [P_THRESHOLD] = {"p_threshold", TP_ARG_DOUBLE, 0, "0.1", 0, 1, NULL,
                     "a trial is stopped below this probability"},
    [START_STEP] = {"start_step", TP_ARG_INT, 0, "2", 0, 1e9, NULL,
                    "pairs of values before a trial is judged"},
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
    struct shell *self = calloc(1, sizeof *self);

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

    wilcoxon_fini(&self->rule);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;

    (void)n;
    self->rule = (struct wilcoxon){
        .maximize = strcmp(values[MODE].text, "maximize") == 0,
        .p_threshold = values[P_THRESHOLD].number,
        .start_step = (size_t)values[START_STEP].integer,
    };
    return TP_OK;
}

static void
explain(const struct shell *self, const struct wilcoxon_verdict *v)
{
    const struct tp_host *host = self->host;

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    switch (v->reason) {
    case WILCOXON_NO_BEST:
        host->explain(host->ctx, "not judged: no trial has succeeded with "
                                 "finite values yet");
        return;
    case WILCOXON_EARLY:
        host->explain(host->ctx, "not judged: %zu pairs, fewer than start_step",
                      v->pairs);
        return;
    case WILCOXON_NOT_FINITE:
        host->explain(host->ctx, "not judged: a value is not finite");
        return;
    case WILCOXON_JUDGED:
    case WILCOXON_MEAN_IS_BEST:
        break;
    }
    host->explain(host->ctx,
                  "%zu pairs with the best completed trial, mean %.9g against "
                  "its %.9g: so much worse by chance with probability %.6g",
                  v->pairs, v->mean, v->best_mean, v->p);
    if (v->reason == WILCOXON_MEAN_IS_BEST)
        host->explain(host->ctx, "it goes on: on average it is as good");
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct wilcoxon_verdict v;

    if (wilcoxon_assess(&self->rule, h->values, h->n, &v) != 0)
        return fail(self, "out of memory");
    explain(self, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.p;
    if (!isnan(v.p))
        out->threshold = self->rule.p_threshold;
    if (v.stop)
        out->rule = "worse than the best trial, by the signed-rank test";
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct shell *self = vself;

    if (how == TP_TRIAL_SUCCEEDED && h->n > 0 &&
        wilcoxon_succeeded(&self->rule, h->trial, h->values, h->n) != 0)
        return fail(self, "out of memory");
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;
    const struct wilcoxon *w = &self->rule;

    (void)living;
    (void)n;
    sink->u64(sink->ctx, w->best != NULL ? w->n_best : 0);
    if (w->best == NULL)
        return TP_OK;
    sink->u64(sink->ctx, w->trial);
    sink->f64s(sink->ctx, w->best, w->n_best);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *s)
{
    struct shell *self = vself;
    uint64_t n_best, trial;
    double *best;
    int rc = TP_OK;

    (void)living;
    (void)n;
    if (s->u64(s->ctx, &n_best) != TP_OK)
        return fail(self, "the saved best trial is cut off");
    if (n_best == 0)
        return TP_OK;
    if (s->u64(s->ctx, &trial) != TP_OK ||
        n_best > s->left(s->ctx) / sizeof *best)
        return fail(self, "the saved best trial is cut off");
    best = calloc((size_t)n_best, sizeof *best);
    if (best == NULL)
        return fail(self, "out of memory");
    if (s->f64s(s->ctx, best, (size_t)n_best) != TP_OK ||
        wilcoxon_succeeded(&self->rule, trial, best, (size_t)n_best) != 0 ||
        self->rule.best == NULL)
        rc = fail(self, "the saved best trial has values that are not finite");
    free(best);
    return rc;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "wilcoxon",
    .doc = "stops a trial that is worse than the best, fold by fold, by "
           "Wilcoxon's signed-rank test",
    .version = 1,
    .args = args,
    .n_args = N_ARGS,
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
