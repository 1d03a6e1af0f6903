/* SPDX-License-Identifier: MIT */
/* explainer.h - what replay is told about why an answer is what it is
 * (`tunepipe explain`).  A live dispatcher has no explainer.  Called by the
 * thread that handles the commands; no answer depends on it. */
#ifndef DISPATCHER_EXPLAINER_H
#define DISPATCHER_EXPLAINER_H

#include "command.h"
#include "plugin/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an assessor, or an advisor, decided on a trial's report and by which
 * rule; lent for the call. */
struct judgement {
    uint64_t cause; /* arrival number of the report */
    const char *job;
    uint64_t step;                /* of the report, from 0 */
    enum trial_decision decision; /* TRIAL_GO to TRIAL_FINISH */
    double value, threshold;      /* NaN: nothing was compared */
    const char *rule; /* as the plugin names it; NULL: it named none */
};

struct explainer {
    /* What plugins say; its ctx is passed to all calls below. */
    struct host_listener listener;
    /* A plugin is about to be asked: what was said before belongs to an earlier
     * question. */
    void (*begin)(void *ctx);
    void (*judged)(void *ctx, const struct judgement *j);
};

#endif
