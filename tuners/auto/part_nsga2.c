/* SPDX-License-Identifier: MIT */
/* The tuner nsga2 as a part of another: its registration under another name,
 * and not exported. */
#include "auto/parts.h"

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner parts_nsga2
#include "nsga2/plugin.c"
