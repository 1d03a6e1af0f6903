/* SPDX-License-Identifier: MIT */
/* A tuner that is exhausted after `count` points. */
#include "base.h"

static const struct tp_arg args[] = {
    {"count", TP_ARG_INT, 0, "3", 0, 1e9, NULL, "how many points there are"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (self->asked == (uint64_t)self->number)
        return TP_DONE;
    self->asked++;
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("done", "is exhausted after some points"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
