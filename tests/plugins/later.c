/* SPDX-License-Identifier: MIT */
/* A tuner that has at most `at_once` trials out; asked for more it says
 * TP_LATER, and serves after the next end. */
#include "base.h"

static const struct tp_arg args[] = {
    {"at_once", TP_ARG_INT, 0, "1", 1, 1000, NULL, "trials out at a time"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (self->asked - self->ended >= (uint64_t)self->number)
        return TP_LATER;
    self->asked++;
    return base_ask(self, id, out);
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct base *self = vself;

    (void)id;
    (void)x;
    (void)how;
    self->ended++;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("later", "has few trials out at a time"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
    .ended = ended,
    .save = base_save,
    .load = base_load,
};
TP_REGISTER_TUNER(tuner)
