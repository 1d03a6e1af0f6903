/* SPDX-License-Identifier: MIT */
/* A tuner that rejects its arguments. */
#include "base.h"

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct base *self = vself;

    (void)values;
    (void)n;
    return tp_error(self->host, "a and b do not go together");
}

static const struct tp_tuner tuner = {
    BASE_TUNER("config_fails", "config fails"),
    .config = config,
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
