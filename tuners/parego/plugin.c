/* SPDX-License-Identifier: MIT */
/* The tuner `parego`: gp's, where each trial has its own weights. */
#include "gp/tuner.h"
#include "tunepipe/shell.h"

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct gp_tuner *self = vself;

    self->by_weights = true;
    return gp_tuner_config(vself, values, n);
}

static const struct tp_tuner tuner = {
    GP_TUNER,
    .name = "parego",
    .doc = "models several objectives as one, weighted anew for each trial "
           "(ParEGO)",
    .version = 2,
    .config = config,
};
TP_REGISTER_TUNER(tuner)
