/* SPDX-License-Identifier: MIT */
/* An advisor that does what the values say: an intermediate one of -D gives its
 * trial the decision D, one of 10*ID+D decides D on the trial of ID, and 0 does
 * nothing.  Each later suggestion promotes the one before. */
#include "base.h"

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    base_ask(self, id, out);
    out->budget = 2.5;
    if (self->asked++ > 0) {
        out->from = self->ended;
        out->from_how = TP_PROMOTED;
    }
    self->ended = id; /* the one before */
    return TP_OK;
}

static int
metric(void *vself, uint64_t id, const double *x,
       const struct tp_metric *metric_, struct tp_verdict *out)
{
    struct base *self = vself;
    long value = (long)metric_->value;

    (void)id;
    (void)x;
    tp_log(self->host, TP_LOG_INFO, "step %llu of attempt %llu",
           (unsigned long long)metric_->step,
           (unsigned long long)metric_->attempt);
    if (value < 0)
        out->decision = (int)-value;
    else if (value % 10 != 0)
        self->host->decide(self->host->ctx, (uint64_t)value / 10,
                           (int)(value % 10));
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("puppet", "does what the values say"),
    .ask = ask,
    .metric = metric,
    .save = base_save,
    .load = base_load,
};
TP_REGISTER_TUNER(tuner)
