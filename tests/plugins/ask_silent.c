/* SPDX-License-Identifier: MIT */
/* A tuner that fails and does not say why. */
#include "base.h"

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    (void)self;
    (void)id;
    (void)out;
    return TP_ERR;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("ask_silent", "ask fails silently"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
