/* SPDX-License-Identifier: MIT */
/* The assessor `medianstop`: arguments in, verdicts out; the rule itself is
 * in medianstop.c. */
#include "medianstop/medianstop.h"
#include "tunepipe/assessor.h"
#include "tunepipe/shell.h"

#include <stdlib.h>

struct shell {
    const struct tp_host *host;
    struct medianstop *rule;
    const char *text; /* the verdict's, fits the mode */
};

enum { MODE, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = TP_MODE("maximize", "whether larger values are better"),
    [START_STEP] = TP_INT("start_step", 0, 0, 1e9,
                          "values a trial has to report before it is judged"),
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

    medianstop_free(self->rule);
    free(self);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    int maximize = tp_maximizes(&values[MODE]);

    (void)n;
    self->rule = medianstop_new(maximize, (size_t)values[START_STEP].integer);
    if (self->rule == NULL)
        return tp_out_of_memory(self->host);
    self->text = maximize ? "best value below the median of averages"
                          : "best value above the median of averages";
    return TP_OK;
}

static void
explain(const struct shell *self, size_t n, const struct medianstop_verdict *v)
{
    const struct tp_host *host = self->host;

    if (v->compared)
        tp_explain(host,
                   "its best of %zu: %.9g; the median of the averages of the "
                   "first %zu, over %zu completed trials: %.9g",
                   n, v->best, n, v->averages, v->median);
    else if (v->early)
        tp_explain(host, "not judged: %zu values, fewer than start_step", n);
    else
        tp_explain(host, "not judged: no trial has completed %zu values", n);
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct shell *self = vself;
    struct medianstop_trial *trial = *h->slot;
    struct medianstop_verdict v;
    int rc = medianstop_assess(self->rule, &trial, h->values, h->n, &v);

    *h->slot = trial;
    if (rc != 0)
        return tp_out_of_memory(self->host);
    explain(self, h->n, &v);
    out->decision = v.stop ? TP_STOP : TP_GO;
    out->value = v.best;
    out->threshold = v.median;
    if (v.stop)
        out->rule = self->text;
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct shell *self = vself;
    struct medianstop_trial *trial = *h->slot;
    int rc = medianstop_ended(self->rule, &trial, h->values,
                              how == TP_TRIAL_SUCCEEDED);

    *h->slot = trial;
    return rc == 0 ? TP_OK : tp_out_of_memory(self->host);
}

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    const struct shell *self = vself;

    medianstop_save(self->rule, sink);
    for (size_t i = 0; i < n; i++)
        medianstop_save_trial(*living[i]->slot, sink);
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    struct shell *self = vself;
    const char *why = medianstop_load(self->rule, source);

    for (size_t i = 0; why == NULL && i < n; i++) {
        struct medianstop_trial *trial = NULL;

        why = medianstop_load_trial(self->rule, living[i]->n, &trial, source);
        *living[i]->slot = trial;
    }
    return tp_ok_unless(self->host, why);
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "medianstop",
    .doc = "stops a trial whose best value is worse than the median of the "
           "completed trials' averages at the same step",
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
