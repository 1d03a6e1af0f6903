/* SPDX-License-Identifier: MIT */
/* A tuner that sets dimensions that are inactive, too. */
#include "base.h"

struct all_set {
    const struct tp_host *host;
    const struct tp_space *space;
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct all_set));
}

static int
space(void *vself, const struct tp_space *s)
{
    struct all_set *self = vself;

    self->space = s;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct all_set *self = vself;

    tp_sample(self->host, id, out->x);
    for (size_t i = 0; i < self->space->n_dims; i++)
        if (TP_DIM(self->space, i)->parent != TP_NO_PARENT)
            out->x[i] = 0;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,  .name = "all_set", .doc = "sets every dimension",
    .version = 1,   .create = create,  .destroy = free,
    .space = space, .ask = ask,        .tell = tp_tell_nothing,
};
TP_REGISTER_TUNER(tuner)
