/* SPDX-License-Identifier: MIT */
/* A plugin that registers nothing. */
#include "base.h"

TP_EXPORT const struct tp_tuner *tunepipe_tuner(void);

const struct tp_tuner *
tunepipe_tuner(void)
{
    return NULL;
}
