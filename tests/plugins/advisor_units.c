/* SPDX-License-Identifier: MIT */
/* The same advisor, for whom each unit of a request gets its own NO. */
#define ADVISOR_NAME "advisor_units"
#define ADVISOR_FLAGS TP_TUNER_UNITS
#include "advisor.c"
