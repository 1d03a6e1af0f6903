/* SPDX-License-Identifier: MIT */
/* A tuner that changes what belongs to the whole process. */
#include "base.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static int
ask(void *self, uint64_t id, struct tp_suggestion *out)
{
    signal(SIGUSR1, SIG_IGN);
    umask(0);
    setenv("MEDDLED", "1", 1);
    if (chdir("/") != 0)
        return TP_ERR;
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("meddles", "changes the process"),
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
