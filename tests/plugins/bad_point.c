/* SPDX-License-Identifier: MIT */
/* A tuner that leaves its point as it found it (all NaN), or, with `replace`,
 * points out->x elsewhere. */
#include "base.h"

static const struct tp_arg args[] = {
    {"replace", TP_ARG_BOOL, 0, "false", 0, 0, NULL, "whether to replace x"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    (void)id;
    if (self->number)
        out->x = NULL;
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("bad_point", "gives no valid point"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
