/* SPDX-License-Identifier: MIT */
/* A tuner whose create fails and says why. */
#include "base.h"

static void *
create(const struct tp_host *host)
{
    host->error(host->ctx, "no licence for %d cores", 64);
    return NULL;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,     .name = "create_fails",  .doc = "create fails",
    .create = create,  .destroy = base_destroy, .ask = base_ask,
    .tell = base_tell,
};
TP_REGISTER_TUNER(tuner)
