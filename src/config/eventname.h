/* SPDX-License-Identifier: MIT */
/* eventname.h - what can happen to an experiment, by name: for hooks, for
 * `tunepipe wait` and for the manager's bus.  Names may be globs (fnmatch(3)).
 * Any thread. */
#ifndef CONFIG_EVENTNAME_H
#define CONFIG_EVENTNAME_H

#include <stdint.h>

struct err;

enum event_name {
    EVENT_EXPERIMENT_STARTED,
    EVENT_EXPERIMENT_PAUSED,
    EVENT_EXPERIMENT_CONTINUED,
    EVENT_EXPERIMENT_ENDED,
    EVENT_TRIAL_WAITING,
    EVENT_TRIAL_PREPARING,
    EVENT_TRIAL_PREPARED,
    EVENT_TRIAL_STARTED,
    EVENT_TRIAL_ENDED,
    EVENT_TRIAL_PAUSED, /* behind its trial.ended */
    EVENT_TRIAL_RETRIED,
    EVENT_TRIAL_INTERRUPTED,
    EVENT_METRIC,
    EVENT_DECISION,
    EVENT_BEST,
    EVENT_PLUGIN_ERROR,
    EVENT_DISPATCHER_RESTARTED,
    EVENT_NAMES /* number of names; at most 32 */
};

/* The text of a name: "trial.ended", ... */
const char *event_name(enum event_name name);

/* The events that `glob` matches, a bit each; 0 when it matches none, with err,
 * which names the nearest. */
uint32_t event_names_like(const char *glob, struct err *err);

#endif
