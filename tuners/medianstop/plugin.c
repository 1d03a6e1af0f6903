/* SPDX-License-Identifier: MIT */
/* The assessor `medianstop`: arguments in, verdicts out; the rule itself is
 * in medianstop.c. */
#include "medianstop/medianstop.h"
#include "tunepipe/assessor.h"

#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct medianstop *rule;
    const char *text; /* the verdict's, fits the mode */
};

enum { MODE, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger values are better"},
    [START_STEP] = {"start_step", TP_ARG_INT, 0, "0", 0, 1e9, NULL,
                    "values a trial has to report before it is judged"},
};

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

    medianstop_free(self->rule);
    free(self);
}

static int
out_of_memory(const struct shell *self)
{
    self->host->error(self->host->ctx, "out of memory");
    return TP_ERR;
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;
    int maximize = strcmp(values[MODE].text, "maximize") == 0;

    (void)n;
    self->rule = medianstop_new(maximize, (size_t)values[START_STEP].integer);
    if (self->rule == NULL)
        return out_of_memory(self);
    self->text = maximize ? "best value below the median of averages"
                          : "best value above the median of averages";
    return TP_OK;
}

static void
explain(const struct shell *self, size_t n, const struct medianstop_verdict *v)
{
    const struct tp_host *host = self->host;

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    if (v->compared)
        host->explain(
            host->ctx,
            "its best of %zu: %.9g; the median of the averages of the first %zu, over %zu completed trials: %.9g",
            n, v->best, n, v->averages, v->median);
    else if (v->early)
        host->explain(host->ctx,
                      "not judged: %zu values, fewer than start_step", n);
    else
        host->explain(host->ctx,
                      "not judged: no trial has completed %zu values", n);
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
        return out_of_memory(self);
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
    return rc == 0 ? TP_OK : out_of_memory(self);
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
    if (why == NULL)
        return TP_OK;
    self->host->error(self->host->ctx, "%s", why);
    return TP_ERR;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "medianstop",
    .doc = "stops a trial whose best value is worse than the median of the "
           "completed trials' averages at the same step",
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
