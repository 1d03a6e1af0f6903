/* SPDX-License-Identifier: MIT */
/* An assessor that writes down its calls and stops a trial when the sum of its
 * values leaves a certain rest; 1 by 2: when it is odd. */
#include "base.h"

#include <math.h>

static const struct tp_arg args[] = {
    {"by", TP_ARG_INT, 0, "2", 1, 1e9, NULL, "what the sum is divided by"},
};

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct base *self = vself;
    double sum = 0;

    for (size_t i = 0; i < h->n; i++)
        sum += h->values[i];
    tp_log(self->host, TP_LOG_INFO, "assess trial %d at %d", (int)h->trial,
           (int)h->n);
    if (fmod(sum, (double)self->number) != 1)
        return TP_OK;
    out->decision = TP_STOP;
    out->value = sum;
    out->rule = "the sum leaves a rest of 1";
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct base *self = vself;

    tp_log(self->host, TP_LOG_INFO, "trial %d ended, how %d", (int)h->trial,
           how);
    return TP_OK;
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("odd_sum", "stops a trial whose sum leaves a rest of 1"),
    .args = TP_ARGS(args),
    .config = base_config,
    .assess = assess,
    .ended = ended,
};
TP_REGISTER_ASSESSOR(assessor)
