/* SPDX-License-Identifier: MIT */
/* A tuner that ends the process when asked for the id 2; with `at_once` in a
 * way that nobody hears of. */
#include "base.h"

#include <unistd.h>

static const struct tp_arg args[] = {
    {"at_once", TP_ARG_INT, 0, "0", 0, 1, NULL, "1: by _exit()"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (id == 2 && self->number != 0)
        _exit(1);
    if (id == 2)
        exit(3);
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("exits", "ends the process"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
