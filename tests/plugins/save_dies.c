/* SPDX-License-Identifier: MIT */
/* A tuner that dies of a signal whenever it is to be saved. */
#include "base.h"

#include <signal.h>

static int
save(void *self, const struct tp_sink *sink)
{
    (void)self;
    (void)sink;
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    return TP_ERR;
}

static int
load(void *self, const struct tp_source *source)
{
    (void)self;
    (void)source;
    return TP_ERR;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("save_dies", "dies when it is saved"),
    .ask = base_ask,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
