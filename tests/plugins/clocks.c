/* SPDX-License-Identifier: MIT */
/* A tuner that draws its random numbers from the clock. */
#include "base.h"

#include <time.h>

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;
    uint64_t now = (uint64_t)time(NULL);

    tp_sample(self->host, now * 1000 + id, out->x);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("clocks", "looks at the clock"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
