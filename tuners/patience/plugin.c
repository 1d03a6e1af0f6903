/* SPDX-License-Identifier: MIT */
/* The assessor `patience`: patience.h behind the plugin interface.  It goes by
 * the trial's own history, which the host keeps: there is nothing to save. */
#include "patience/patience.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct patience rule;
};

enum { MODE, PATIENCE, MIN_DELTA, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [PATIENCE] = TP_INT("patience", 10, 1, 1e9,
                        "values that may pass without a better one"),
    [MIN_DELTA] = TP_DOUBLE("min_delta", 0, 0, 0,
                            "what is better is better by more than this"),
    [START_STEP] = TP_INT("start_step", 0, 0, 1e9,
                          "values a trial has to report before it is judged"),
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
    self->rule = (struct patience){
        .maximize = tp_maximizes(&values[MODE]),
        .patience = (size_t)values[PATIENCE].integer,
        .min_delta = values[MIN_DELTA].number,
        .start_step = (size_t)values[START_STEP].integer,
    };
    return TP_OK;
}

static void
explain(const struct shell *self, size_t n, const struct patience_verdict *v)
{
    const struct tp_host *host = self->host;

    if (!v->judged)
        tp_explain(host, "not judged: %zu values are too few", n);
    else if (v->at == 0)
        tp_explain(host, "nothing but NaN before its last %zu values",
                   self->rule.patience);
    else
        tp_explain(host,
                   "the best of its last %zu values: %.9g; the best "
                   "before: %.9g, value %zu",
                   self->rule.patience, v->after, v->before, v->at);
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    const struct shell *self = vself;
    const struct patience *p = &self->rule;
    struct patience_verdict v = patience_assess(p, h->values, h->n);

    explain(self, h->n, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.after;
    out->threshold = v.before + (p->maximize ? p->min_delta : -p->min_delta);
    if (v.stop)
        out->rule = "no better value for as long as patience lasts";
    return TP_OK;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "patience",
    .doc = "stops a trial that has not become better for a while",
    .version = 1,
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .assess = assess,
    .save = tp_assessor_save_nothing,
    .load = tp_assessor_load_nothing,
};
TP_REGISTER_ASSESSOR(assessor)
