/* SPDX-License-Identifier: MIT */
/* A tuner that uses a function that nobody has. */
#include "base.h"

int tests_nobody_has_this(void);

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    return base_ask(self, id, out) + tests_nobody_has_this();
}

static const struct tp_tuner tuner = {
    BASE_TUNER("undefined", "lacks a function"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
