/* SPDX-License-Identifier: MIT */
/* A tuner whose answers depend on where its object lies. */
#include "base.h"

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    tp_sample(self->host, (uintptr_t)self / 16 + id, out->x);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("addresses", "looks at addresses"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
