/* SPDX-License-Identifier: MIT */
/* A tuner that names its trials: "0-ID", or `label` when that is given. */
#include "base.h"

#include <stdio.h>

struct labels {
    const struct tp_host *host;
    const char *fixed; /* NULL: none */
    char text[32];
};

static const struct tp_arg args[] = {
    {"label", TP_ARG_STRING, 1, "null", 0, 0, NULL, "the same for each trial"},
};

static void *
create(const struct tp_host *host)
{
    return tp_new(host, sizeof(struct labels));
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct labels *self = vself;

    (void)n;
    self->fixed = values[0].is_null ? NULL : values[0].text;
    return TP_OK;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct labels *self = vself;

    snprintf(self->text, sizeof self->text, "0-%llu", (unsigned long long)id);
    out->label = self->fixed != NULL ? self->fixed : self->text;
    tp_sample(self->host, id, out->x);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "labels",
    .doc = "names its trials",
    .args = TP_ARGS(args),
    .create = create,
    .destroy = free,
    .config = config,
    .ask = ask,
    .tell = tp_tell_nothing,
    .save = tp_save_nothing,
    .load = tp_load_nothing,
};
TP_REGISTER_TUNER(tuner)
