/* SPDX-License-Identifier: MIT */
/* The tuner auto as a part of asha: its registration under another name, and
 * not exported. */
#include "tunepipe/tuner.h"

const struct tp_tuner *asha_part_auto(void);

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner asha_part_auto
#include "auto/plugin.c"
