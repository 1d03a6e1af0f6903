/* SPDX-License-Identifier: MIT */
/* The assessor `patience`: patience.h behind the plugin interface.  It goes by
 * the trial's own history, which the host keeps: there is nothing to save. */
#include "patience/patience.h"
#include "tunepipe/assessor.h"

#include <stdlib.h>
#include <string.h>

struct shell {
    const struct tp_host *host;
    struct patience rule;
};

enum { MODE, PATIENCE, MIN_DELTA, START_STEP, N_ARGS };

static const struct tp_arg args[N_ARGS] = {
    [MODE] = {"optimize_mode", TP_ARG_STRING, 0, "\"maximize\"", 0, 0,
              "maximize|minimize", "whether larger values are better"},
    [PATIENCE] = {"patience", TP_ARG_INT, 0, "10", 1, 1e9, NULL,
                  "values that may pass without a better one"},
    [MIN_DELTA] = {"min_delta", TP_ARG_DOUBLE, 0, "0", 0, 0, NULL,
                   "what is better is better by more than this"},
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
    free(vself);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct shell *self = vself;

    (void)n;
    self->rule = (struct patience){
        .maximize = strcmp(values[MODE].text, "maximize") == 0,
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

    if (!TP_HAS(host, explain) || !host->explain(host->ctx, NULL))
        return;
    if (!v->judged)
        host->explain(host->ctx, "not judged: %zu values are too few", n);
    else if (v->at == 0)
        host->explain(host->ctx, "nothing but NaN before its last %zu values",
                      self->rule.patience);
    else
        host->explain(host->ctx,
                      "the best of its last %zu values: %.9g; the best before: "
                      "%.9g, value %zu",
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

static int
save(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_sink *sink)
{
    (void)vself;
    (void)living;
    (void)n;
    (void)sink;
    return TP_OK;
}

static int
load(void *vself, const struct tp_history *const *living, size_t n,
     const struct tp_source *source)
{
    (void)vself;
    (void)living;
    (void)n;
    (void)source;
    return TP_OK;
}

static const struct tp_assessor assessor = {
    TP_ASSESSOR_HEAD,
    .name = "patience",
    .doc = "stops a trial that has not become better for a while",
    .version = 1,
    .args = args,
    .n_args = N_ARGS,
    .arg_size = sizeof args[0],
    .create = create,
    .destroy = destroy,
    .config = config,
    .assess = assess,
    .save = save,
    .load = load,
};
TP_REGISTER_ASSESSOR(assessor)
