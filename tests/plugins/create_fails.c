/* SPDX-License-Identifier: MIT */
/* A tuner whose create fails and says why. */
#include "base.h"

static void *
create(const struct tp_host *host)
{
    tp_error(host, "no licence for %d cores", 64);
    return NULL;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,           .name = "create_fails", .doc = "create fails",
    .create = create,        .destroy = free,        .ask = base_ask,
    .tell = tp_tell_nothing,
};
TP_REGISTER_TUNER(tuner)
