/* SPDX-License-Identifier: MIT */
/* A tuner that can be saved, and dies of a signal when it is loaded. */
#include "base.h"

#include <signal.h>

static int
load(void *self, const struct tp_source *source)
{
    (void)self;
    (void)source;
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    return TP_ERR;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("load_dies", "dies when it is loaded"),
    .ask = base_ask,
    .save = base_save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
