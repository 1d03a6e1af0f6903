/* SPDX-License-Identifier: MIT */
/* A tuner with a name that nobody could write in lower case. */
#include "base.h"

static const struct tp_tuner tuner = {
    BASE_TUNER("Bad Name", "has a bad name"),
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
