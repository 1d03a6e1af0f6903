/* SPDX-License-Identifier: MIT */
/* The assessor `percentile`: percentile.h behind the plugin interface.  A
 * trial's slot holds no pointer but the number of values seen last. */
#include "percentile/percentile.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct percentile *rule;
};

enum {
    MODE,
    PERCENTILE,
    COMPARE,
    START_STEP,
    INTERVAL,
    STARTUP_TRIALS,
    MIN_TRIALS,
    N_ARGS
};

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [PERCENTILE] = TP_DOUBLE("percentile", 50, 0, 100,
                             "share of trials that goes on, in percent"),
    [COMPARE] =
        TP_ONE_OF("compare_with", "values", "values|averages",
                  "what completed trials had at the step, or on average up to "
                  "it"),
    [START_STEP] = TP_INT("start_step", 0, 0, 1e9,
                          "values a trial has to report before it is judged"),
    [INTERVAL] =
        TP_INT("interval", 1, 1, 1e9, "values from one judgement to the next"),
    [STARTUP_TRIALS] =
        TP_INT("startup_trials", 5, 0, 1e9,
               "trials that have to complete before any is judged"),
    [MIN_TRIALS] =
        TP_INT("min_trials", 1, 1, 1e9,
               "completed trials that have to have come to the step"),
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

    percentile_free(self->rule);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct percentile_rule rule = {
        .maximize = tp_maximizes(&values[MODE]),
        .averages = tp_is(&values[COMPARE], "averages"),
        .percentile = values[PERCENTILE].number,
        .start_step = (size_t)values[START_STEP].integer,
        .interval = (size_t)values[INTERVAL].integer,
        .startup_trials = (uint64_t)values[STARTUP_TRIALS].integer,
        .min_trials = (size_t)values[MIN_TRIALS].integer,
    };

    (void)n;
    self->rule = percentile_new(&rule);
    return self->rule != NULL ? TP_OK : tp_out_of_memory(self->host);
}

static void
explain(const struct shell *self, size_t n, const struct percentile_verdict *v)
{
    const struct tp_host *host = self->host;
    const struct percentile_rule *r = &self->rule->rule;

    switch (v->reason) {
    case PERCENTILE_FEW_TRIALS:
        tp_explain(host,
                   "not judged: %llu trials have completed, at least "
                   "%llu have to",
                   (unsigned long long)self->rule->n_completed,
                   (unsigned long long)(r->startup_trials > 0
                                            ? r->startup_trials
                                            : 1));
        return;
    case PERCENTILE_EARLY:
        tp_explain(host, "not judged: %zu values, fewer than start_step", n);
        return;
    case PERCENTILE_BETWEEN:
        tp_explain(host, "not judged: %zu values lie within interval", n);
        return;
    case PERCENTILE_FEW_AT_STEP:
        tp_explain(host,
                   "not judged: fewer than %zu completed trials have %zu "
                   "values",
                   r->min_trials, n);
        return;
    case PERCENTILE_JUDGED:
        break;
    }
    tp_explain(host,
               "its best of %zu: %.9g; the best %g percent of %zu "
               "completed trials had %.9g or better %s",
               n, v->best, r->percentile, v->trials, v->limit,
               r->averages ? "on average by then" : "then");
}

static const char *
rule_text(const struct shell *self, const struct percentile_verdict *v)
{
    if (v->best != v->best)
        return "nothing but NaN";
    return self->rule->rule.maximize
               ? "best value below the percentile of completed trials"
               : "best value above the percentile of completed trials";
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct percentile_verdict v;

    percentile_assess(self->rule, h->values, h->n, (size_t)(uintptr_t)*h->slot,
                      &v);
    *h->slot = (void *)(uintptr_t)h->n;
    explain(self, h->n, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.best;
    out->threshold = v.limit;
    if (v.stop)
        out->rule = rule_text(self, &v);
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct shell *self = vself;

    if (how == TP_TRIAL_SUCCEEDED &&
        percentile_succeeded(self->rule, h->values, h->n) != 0)
        return tp_out_of_memory(self->host);
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;

    percentile_save(self->rule, sink);
    for (size_t i = 0; i < n; i++)
        tp_put_u64(sink, (uint64_t)(uintptr_t)*living[i]->slot);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *s)
{
    struct shell *self = vself;
    const char *wrong = percentile_load(self->rule, s);

    for (size_t i = 0; wrong == NULL && i < n; i++) {
        uint64_t seen;

        if (tp_get_u64(s, &seen) != TP_OK || seen > living[i]->n)
            wrong = "a saved trial is cut off or longer than its history";
        *living[i]->slot = (void *)(uintptr_t)seen;
    }
    return tp_ok_unless(self->host, wrong);
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "percentile",
    .doc = "stops a trial whose best value is worse than a percentile of the "
           "completed trials at the same step",
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
