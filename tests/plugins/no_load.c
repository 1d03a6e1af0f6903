/* SPDX-License-Identifier: MIT */
/* A tuner that can be saved and not loaded. */
#include "base.h"

static const struct tp_tuner tuner = {
    BASE_TUNER("no_load", "can be saved and not loaded"),
    .ask = base_ask,
    .save = tp_save_nothing,
};
TP_REGISTER_TUNER(tuner)
