/* SPDX-License-Identifier: MIT */
/* A tuner whose table is shorter than any of this ABI was. */
#include "base.h"

#include <stddef.h>

static const struct tp_tuner tuner = {
    offsetof(struct tp_tuner, tell),
    TP_TUNER_MAGIC,
    TP_ABI,
    .name = "too_short",
    .doc = "has a table that is too short",
    .create = base_create,
    .destroy = free,
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
