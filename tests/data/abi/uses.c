/* SPDX-License-Identifier: MIT */
/* Names every public structure, for tools that read debug information. */
#include "tunepipe/assessor.h"
#include "tunepipe/tuner.h"

TP_EXPORT void abi_uses(struct tp_tuner *, struct tp_assessor *,
                        struct tp_host *, struct tp_arg *, struct tp_value *,
                        struct tp_dim *, struct tp_space *,
                        struct tp_suggestion *, struct tp_result *,
                        struct tp_history *, struct tp_verdict *);

void
abi_uses(struct tp_tuner *tuner, struct tp_assessor *assessor,
         struct tp_host *host, struct tp_arg *arg, struct tp_value *value,
         struct tp_dim *dim, struct tp_space *space,
         struct tp_suggestion *suggestion, struct tp_result *result,
         struct tp_history *history, struct tp_verdict *verdict)
{
    tuner->version = assessor->version = 1;
    host->ctx = (void *)arg;
    value->is_null = dim->kind;
    space->dims = dim;
    suggestion->x = &result->value;
    history->n = 0;
    verdict->decision = 0;
}
