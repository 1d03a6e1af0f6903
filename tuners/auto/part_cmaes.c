/* SPDX-License-Identifier: MIT */
/* The tuner cmaes as a part of another: its registration under another name,
 * and not exported. */
#include "auto/parts.h"

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner parts_cmaes
#include "cmaes/plugin.c"
