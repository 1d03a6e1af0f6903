/* SPDX-License-Identifier: MIT */
/* A tuner that ends the process when asked for the id 2. */
#include "base.h"

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    if (id == 2)
        exit(3);
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("exits", "ends the process"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
