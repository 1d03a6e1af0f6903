/* SPDX-License-Identifier: MIT */
/* A tuner that loses a bit of memory with each object. */
#include "base.h"

static void *
create(const struct tp_host *host)
{
    void *volatile lost = malloc(40);

    lost = NULL;
    (void)lost;
    return base_create(host);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,   .name = "leaks",         .doc = "loses memory",
    .version = 1,    .create = create,        .destroy = free,
    .ask = base_ask, .tell = tp_tell_nothing,
};
TP_REGISTER_TUNER(tuner)
