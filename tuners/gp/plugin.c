/* SPDX-License-Identifier: MIT */
/* The tuner `gp`. */
#include "gp/tuner.h"
#include "tunepipe/shell.h"

static const struct tp_tuner tuner = {
    GP_TUNER,
    .name = "gp",
    .doc = "models all results, and tries where most improvement is expected "
           "(Gaussian process)",
    .version = 3,
    .config = gp_tuner_config,
};
TP_REGISTER_TUNER(tuner)
