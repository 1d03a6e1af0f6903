/* SPDX-License-Identifier: MIT */
/* An assessor that writes down what it is shown, and stops a trial whose
 * latest value is below 0. */
#include "base.h"

static const char *const ends[] = {"?", "succeeded", "failed", "stopped",
                                   "cancelled"};

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "trial %d: %d values, %g", (int)h->trial,
           (int)h->n, h->values[h->n - 1]);
    if (h->values[h->n - 1] < 0)
        out->decision = TP_STOP;
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "trial %d: %s", (int)h->trial, ends[how]);
    return TP_OK;
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("hears", "writes down what it is shown"),
    .assess = assess,
    .save = base_assessor_save,
    .load = base_assessor_load,
    .ended = ended,
};
TP_REGISTER_ASSESSOR(assessor)
