/* SPDX-License-Identifier: MIT */
/* arguments.h - what the tuner asha is told. */
#ifndef ASHA_ARGUMENTS_H
#define ASHA_ARGUMENTS_H

#include "asha/asha.h"
#include "tunepipe/plugin.h"

enum {
    ARG_MODE,
    ARG_MIN_BUDGET,
    ARG_MAX_BUDGET,
    ARG_ETA,
    ARG_BRACKETS,
    ARG_TYPE,
    ARG_SEARCHER,
    ARG_CONFIGURATIONS,
    ARG_SEED,
    N_ARGUMENTS
};

extern const struct tp_arg asha_arguments[N_ARGUMENTS];

/* TP_ERR, and the host is told, when they do not fit together. */
int asha_options_of(const struct tp_host *host, const struct tp_value *values,
                    struct asha_options *out);

#endif
