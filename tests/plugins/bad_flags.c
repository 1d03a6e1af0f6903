/* SPDX-License-Identifier: MIT */
/* A tuner that wants something of its host that this one cannot know. */
#include "base.h"

static const struct tp_tuner tuner = {
    BASE_TUNER("bad_flags", "wants what nobody knows"),
    .flags = 1u << 30 | TP_TUNER_WHOLE,
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
