/* SPDX-License-Identifier: MIT */
/* An assessor that fails at step 2, gives a decision that does not exist at
 * step 3, and dies at step `dies` if that is not 0. */
#include "base.h"

#include <signal.h>

static const struct tp_arg args[] = {
    {"dies", TP_ARG_INT, 0, "0", 0, 1e9, NULL, "the step it dies at; 0: none"},
};

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct base *self = vself;

    if (self->number != 0 && h->n == (size_t)self->number) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    out->decision = h->n == 3 ? 7 : TP_STOP;
    out->rule = "should not be seen";
    if (h->n != 2)
        return TP_OK;
    return tp_error(self->host, "value %g is odd", h->values[1]);
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("assess_fails", "fails at step 2"),
    .args = TP_ARGS(args),
    .config = base_config,
    .assess = assess,
    .save = base_assessor_save,
    .load = base_assessor_load,
};
TP_REGISTER_ASSESSOR(assessor)
