/* SPDX-License-Identifier: MIT */
/* A tuner built for another ABI. */
#include "base.h"

static const struct tp_tuner tuner = {
    sizeof tuner,      TP_TUNER_MAGIC,          TP_ABI + 1,
    .name = "bad_abi", .doc = "of another ABI",
};
TP_REGISTER_TUNER(tuner)
