/* SPDX-License-Identifier: MIT */
/* The tuner tpe as a part of another: its registration under another name, and
 * not exported. */
#include "parts/searcher.h"

#undef TP_EXPORT
#define TP_EXPORT TP_EXTERN_C
#define tunepipe_tuner searcher_tpe
#include "tpe/plugin.c"
