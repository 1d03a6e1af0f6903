/* SPDX-License-Identifier: MIT */
/* An assessor without the one thing it is for. */
#include "base.h"

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("no_assess", "has no assess"),
};
TP_REGISTER_ASSESSOR(assessor)
