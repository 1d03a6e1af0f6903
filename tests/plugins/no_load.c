/* SPDX-License-Identifier: MIT */
/* A tuner that can be saved and not loaded. */
#include "base.h"

static int
save(void *self, const struct tp_sink *sink)
{
    (void)self;
    (void)sink;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("no_load", "can be saved and not loaded"),
    .ask = base_ask,
    .save = save,
};
TP_REGISTER_TUNER(tuner)
