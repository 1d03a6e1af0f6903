/* SPDX-License-Identifier: MIT */
/* explainer.h - who wants to know why the answers are what they are.  Replay's
 * only: a living dispatcher has none, and nothing is said.  Called by whoever
 * handles the commands; no answer depends on it. */
#ifndef DISPATCHER_EXPLAINER_H
#define DISPATCHER_EXPLAINER_H

#include "command.h"
#include "plugin/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an assessor, or an advisor, thought of a trial; lent for the call. */
struct judgement {
    uint64_t cause; /* arrival number */
    const char *job;
    uint64_t step;                /* from 0 */
    enum trial_decision decision; /* TRIAL_GO to TRIAL_FINISH */
    double value, threshold;      /* NaN: nothing was compared */
    const char *rule;             /* NULL: it named none */
};

struct explainer {
    struct host_listener listener; /* and its ctx is that of all */
    /* A plugin is about to be asked: what was said before is of another
     * question. */
    void (*begin)(void *ctx);
    void (*judged)(void *ctx, const struct judgement *j);
};

#endif
