/* SPDX-License-Identifier: MIT */
/* The assessor `percentile`: percentile.h behind the plugin interface.  A
 * trial's slot holds no pointer but the number of values seen last. */
#include "percentile/percentile.h"
#include "percentile/state.h"
#include "tunepipe/assessor.h"

#include <stdlib.h>
#include <string.h>

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
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger values are better"},
    [PERCENTILE] = {"percentile", TP_ARG_DOUBLE, 0, "50", 0, 100, NULL,
                    "share of trials that goes on, in percent"},
    [COMPARE] = {"compare_with", TP_ARG_STRING, 0, "\"values\"", 0, 0,
                 "values|averages",
                 "what completed trials had at the step, or on average up to "
                 "it"},
    [START_STEP] = {"start_step", TP_ARG_INT, 0, "0", 0, 1e9, NULL,
                    "values a trial has to report before it is judged"},
    [INTERVAL] = {"interval", TP_ARG_INT, 0, "1", 1, 1e9, NULL,
                  "values from one judgement to the next"},
    [STARTUP_TRIALS] = {"startup_trials", TP_ARG_INT, 0, "5", 0, 1e9, NULL,
                        "trials that have to complete before any is judged"},
    [MIN_TRIALS] = {"min_trials", TP_ARG_INT, 0, "1", 1, 1e9, NULL,
                    "completed trials that have to have come to the step"},
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

    percentile_free(self->rule);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    struct percentile_rule rule = {
        .maximize = strcmp(values[MODE].text, "maximize") == 0,
        .averages = strcmp(values[COMPARE].text, "averages") == 0,
        .percentile = values[PERCENTILE].number,
        .start_step = (size_t)values[START_STEP].integer,
        .interval = (size_t)values[INTERVAL].integer,
        .startup_trials = (uint64_t)values[STARTUP_TRIALS].integer,
        .min_trials = (size_t)values[MIN_TRIALS].integer,
    };

    (void)n;
    self->rule = percentile_new(&rule);
    return self->rule != NULL ? TP_OK : fail(self, "out of memory");
}

static void
explain(const struct shell *self, size_t n, const struct percentile_verdict *v)
{
    const struct tp_host *host = self->host;
    const struct percentile_rule *r = &self->rule->rule;

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    switch (v->reason) {
    case PERCENTILE_FEW_TRIALS:
        host->explain(host->ctx,
                      "not judged: %llu trials have completed, at least %llu "
                      "have to",
                      (unsigned long long)self->rule->n_completed,
                      (unsigned long long)(r->startup_trials > 0
                                               ? r->startup_trials
                                               : 1));
        return;
    case PERCENTILE_EARLY:
        host->explain(host->ctx,
                      "not judged: %zu values, fewer than start_step", n);
        return;
    case PERCENTILE_BETWEEN:
        host->explain(host->ctx, "not judged: %zu values lie within interval",
                      n);
        return;
    case PERCENTILE_FEW_AT_STEP:
        host->explain(host->ctx,
                      "not judged: fewer than %zu completed trials have %zu "
                      "values",
                      r->min_trials, n);
        return;
    case PERCENTILE_JUDGED:
        break;
    }
    host->explain(host->ctx,
                  "its best of %zu: %.9g; the best %g percent of %zu completed "
                  "trials had %.9g or better %s",
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
        return fail(self, "out of memory");
    return TP_OK;
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;

    percentile_save(self->rule, sink);
    for (size_t i = 0; i < n; i++)
        sink->u64(sink->ctx, (uint64_t)(uintptr_t)*living[i]->slot);
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

        if (s->u64(s->ctx, &seen) != TP_OK || seen > living[i]->n)
            wrong = "a saved trial is cut off or longer than its history";
        *living[i]->slot = (void *)(uintptr_t)seen;
    }
    return wrong == NULL ? TP_OK : fail(self, wrong);
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "percentile",
    .doc = "stops a trial whose best value is worse than a percentile of the "
           "completed trials at the same step",
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
