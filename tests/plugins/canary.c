/* SPDX-License-Identifier: MIT */
/* A tuner that tells who loads it: the file $TP_CANARY is there then. */
#include "base.h"

#include <stdio.h>

__attribute__((constructor)) static void
sing(void)
{
    const char *path = getenv("TP_CANARY");
    FILE *file = path == NULL ? NULL : fopen(path, "w");

    if (file != NULL)
        fclose(file);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("canary", "tells who loads it"),
    .ask = base_ask,
};
TP_REGISTER_TUNER(tuner)
