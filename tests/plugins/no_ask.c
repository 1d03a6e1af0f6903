/* SPDX-License-Identifier: MIT */
/* A tuner without a callback that is required. */
#include "base.h"

static const struct tp_tuner tuner = {BASE_TUNER("no_ask", "has no ask")};
TP_REGISTER_TUNER(tuner)
