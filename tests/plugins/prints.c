/* SPDX-License-Identifier: MIT */
/* A tuner that prints to stdout whenever it can: none of it may reach the
 * peer. */
#include "base.h"

#include <stdio.h>
#include <unistd.h>

static void
noise(void)
{
    static const char frame[] = "TR00000000000002{}";

    fputs(frame, stdout);
    fflush(stdout);
    if (write(1, frame, sizeof frame - 1) < 0)
        return;
}

__attribute__((constructor)) static void
loaded(void)
{
    noise();
}

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    noise();
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("prints", "prints to stdout"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
