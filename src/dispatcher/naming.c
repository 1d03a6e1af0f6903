/* SPDX-License-Identifier: MIT */
#include "dispatcher/naming.h"

#include "command.h"

#include <inttypes.h>
#include <stdio.h>

const char *
naming_trial(char out[NAMING_MAX], const char *job,
             const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        snprintf(out, NAMING_MAX, "trial '%.64s' (parameter_id %" PRIu64 ")",
                 job, id->number);
        break;
    case PARAMETER_LABEL:
        snprintf(out, NAMING_MAX, "trial '%.64s' (parameter_id \"%.64s\")", job,
                 id->label);
        break;
    case PARAMETER_NONE:
        snprintf(out, NAMING_MAX, "trial '%.64s' (parameter_id null)", job);
        break;
    }
    return out;
}
