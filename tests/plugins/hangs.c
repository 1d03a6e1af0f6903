/* SPDX-License-Identifier: MIT */
/* A tuner that never returns when asked for one id. */
#include "base.h"

#include <unistd.h>

static const struct tp_arg args[] = {
    {"id", TP_ARG_INT, 0, "2", 0, 1e9, NULL, "the id that it hangs on"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    while (id == (uint64_t)self->number)
        pause();
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("hangs", "never returns for one id"),
    ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
