/* SPDX-License-Identifier: MIT */
/* The tuner parego as a part of another: its registration under another name,
 * and not exported. */
#include "auto/parts.h"

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner parts_parego
#include "parego/plugin.c"
