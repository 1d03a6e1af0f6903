/* SPDX-License-Identifier: MIT */
/* A table that is of another make. */
#include "base.h"

static const struct tp_tuner tuner = {
    sizeof tuner, 0x12345678, TP_ABI, .name = "bad_magic", .doc = "not ours",
};
TP_REGISTER_TUNER(tuner)
