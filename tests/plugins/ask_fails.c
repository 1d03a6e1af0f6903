/* SPDX-License-Identifier: MIT */
/* A tuner that fails from one id on, and says why. */
#include "base.h"

static const struct tp_arg args[] = {
    {"id", TP_ARG_INT, 0, "0", 0, 1e9, NULL, "the first id that fails"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (id < (uint64_t)self->number)
        return base_ask(self, id, out);
    return tp_error(self->host, "the matrix is singular at %llu",
                    (unsigned long long)id);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("ask_fails", "ask fails"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
    .save = base_save,
    .load = base_load,
};
TP_REGISTER_TUNER(tuner)
