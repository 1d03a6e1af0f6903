/* SPDX-License-Identifier: MIT */
/* A tuner that always wants to be asked later. */
#include "base.h"

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    (void)vself;
    (void)id;
    (void)out;
    return TP_LATER;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("never", "has nothing now, ever"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
