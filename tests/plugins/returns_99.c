/* SPDX-License-Identifier: MIT */
/* A tuner whose callbacks return what nobody knows. */
#include "base.h"

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    (void)base_ask(self, id, out);
    return 99;
}

/* Known, but not to tell. */
static int
tell(void *self, uint64_t id, const double *x, const struct tp_result *result)
{
    (void)tp_tell_nothing(self, id, x, result);
    return TP_LATER;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,         .name = "returns_99", .doc = "returns unknown codes",
    .create = base_create, .destroy = free,      .ask = ask,
    .tell = tell,
};
TP_REGISTER_TUNER(tuner)
