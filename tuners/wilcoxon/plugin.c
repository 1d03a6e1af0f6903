/* SPDX-License-Identifier: MIT */
/* The assessor `wilcoxon`: wilcoxon.h behind the plugin interface. */
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"
#include "wilcoxon/wilcoxon.h"

#include <math.h>
#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct wilcoxon rule;
};

enum { MODE, P_THRESHOLD, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [P_THRESHOLD] = TP_DOUBLE("p_threshold", 0.1, 0, 1,
                              "a trial is stopped below this probability"),
    [START_STEP] = TP_INT("start_step", 2, 0, 1e9,
                          "pairs of values before a trial is judged"),
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct shell));
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
        .maximize = tp_maximizes(&values[MODE]),
        .p_threshold = values[P_THRESHOLD].number,
        .start_step = (size_t)values[START_STEP].integer,
    };
    return TP_OK;
}

static void
explain(const struct shell *self, const struct wilcoxon_verdict *v)
{
    const struct tp_host *host = self->host;

    switch (v->reason) {
    case WILCOXON_NO_BEST:
        tp_explain(host, "not judged: no trial has succeeded with finite "
                         "values yet");
        return;
    case WILCOXON_EARLY:
        tp_explain(host, "not judged: %zu pairs, fewer than start_step",
                   v->pairs);
        return;
    case WILCOXON_NOT_FINITE:
        tp_explain(host, "not judged: a value is not finite");
        return;
    case WILCOXON_JUDGED:
    case WILCOXON_MEAN_IS_BEST:
        break;
    }
    tp_explain(host,
               "%zu pairs with the best completed trial, mean %.9g against its "
               "%.9g: so much worse by chance with probability %.6g",
               v->pairs, v->mean, v->best_mean, v->p);
    if (v->reason == WILCOXON_MEAN_IS_BEST)
        tp_explain(host, "it goes on: on average it is as good");
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct wilcoxon_verdict v;

    if (wilcoxon_assess(&self->rule, h->values, h->n, &v) != 0)
        return tp_out_of_memory(self->host);
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
        return tp_out_of_memory(self->host);
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
    tp_put_u64(sink, w->best != NULL ? w->n_best : 0);
    if (w->best == NULL)
        return TP_OK;
    tp_put_u64(sink, w->trial);
    tp_put_f64s(sink, w->best, w->n_best);
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
    if (tp_get_u64(s, &n_best) != TP_OK)
        return tp_error(self->host, "the saved best trial is cut off");
    if (n_best == 0)
        return TP_OK;
    if (tp_get_u64(s, &trial) != TP_OK || n_best > tp_left(s) / sizeof *best)
        return tp_error(self->host, "the saved best trial is cut off");
    best = calloc((size_t)n_best, sizeof *best);
    if (best == NULL)
        return tp_out_of_memory(self->host);
    if (tp_get_f64s(s, best, (size_t)n_best) != TP_OK ||
        wilcoxon_succeeded(&self->rule, trial, best, (size_t)n_best) != 0 ||
        self->rule.best == NULL)
        rc = tp_error(self->host,
                      "the saved best trial has values that are not finite");
    free(best);
    return rc;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "wilcoxon",
    .doc = "stops a trial that is worse than the best, fold by fold, by "
           "Wilcoxon's signed-rank test",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = destroy,
    .config = config,
    .assess = assess,
    .ended = ended,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
