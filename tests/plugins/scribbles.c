/* SPDX-License-Identifier: MIT */
/* A tuner that writes into the point it is told of. */
#include "base.h"

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    double *mine = (double *)(uintptr_t)x;

    (void)vself;
    (void)result;
    if (id == 0)
        mine[0] += 1;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,   .name = "scribbles",   .doc = "writes into its input",
    .version = 1,    .create = base_create, .destroy = free,
    .ask = base_ask, .tell = tell,
};
TP_REGISTER_TUNER(tuner)
