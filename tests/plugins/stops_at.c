/* SPDX-License-Identifier: MIT */
/* An assessor that stops each trial at a step. */
#include "base.h"

static const struct tp_arg args[] = {
    {"step", TP_ARG_INT, 0, "2", 1, 1e9, NULL, "values a trial may report"},
};

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct base *self = vself;

    if (h->n < (size_t)self->number)
        return TP_OK;
    out->decision = TP_STOP;
    out->value = h->values[h->n - 1];
    out->threshold = (double)self->number;
    out->rule = "it is time";
    return TP_OK;
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("stops_at", "stops each trial at a step"),
    .args = TP_ARGS(args),
    .config = base_config,
    .assess = assess,
};
TP_REGISTER_ASSESSOR(assessor)
