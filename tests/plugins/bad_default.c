/* SPDX-License-Identifier: MIT */
/* A tuner with a default that it would refuse itself. */
#include "base.h"

static const struct tp_arg args[] = {
    {"gamma", TP_ARG_INT, 0, "30", 1, 20, NULL, "out of its own range"},
};

static const struct tp_tuner tuner = {
    BASE_TUNER("bad_default", "has a bad default"),
    .args = TP_ARGS(args),
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
