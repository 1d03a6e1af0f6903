/* SPDX-License-Identifier: MIT */
#include "config/eventname.h"

#include "core/err.h"
#include "core/nearest.h"

#include <fnmatch.h>

static const char *const names[EVENT_NAMES] = {
    [EVENT_EXPERIMENT_STARTED] = "experiment.started",
    [EVENT_EXPERIMENT_PAUSED] = "experiment.paused",
    [EVENT_EXPERIMENT_CONTINUED] = "experiment.continued",
    [EVENT_EXPERIMENT_ENDED] = "experiment.ended",
    [EVENT_TRIAL_WAITING] = "trial.waiting",
    [EVENT_TRIAL_PREPARING] = "trial.preparing",
    [EVENT_TRIAL_PREPARED] = "trial.prepared",
    [EVENT_TRIAL_STARTED] = "trial.started",
    [EVENT_TRIAL_ENDED] = "trial.ended",
    [EVENT_TRIAL_PAUSED] = "trial.paused",
    [EVENT_TRIAL_RETRIED] = "trial.retried",
    [EVENT_TRIAL_INTERRUPTED] = "trial.interrupted",
    [EVENT_METRIC] = "metric",
    [EVENT_DECISION] = "decision",
    [EVENT_BEST] = "best",
    [EVENT_PLUGIN_ERROR] = "plugin.error",
    [EVENT_DISPATCHER_RESTARTED] = "dispatcher.restarted",
};

const char *
event_name(enum event_name name)
{
    return names[name];
}

uint32_t
event_names_like(const char *glob, struct err *err)
{
    uint32_t bits = 0;
    char hint[128];

    for (int i = 0; i < EVENT_NAMES; i++)
        if (fnmatch(glob, names[i], 0) == 0)
            bits |= UINT32_C(1) << i;
    if (bits == 0)
        err_set(err, ERR_CONFIG, "'%.100s' is no event%s", glob,
                nearest_hint(glob, names, EVENT_NAMES, hint, sizeof hint));
    return bits;
}
