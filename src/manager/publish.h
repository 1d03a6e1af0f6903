/* SPDX-License-Identifier: MIT */
/* publish.h - what the manager publishes on its bus (events.h), and the hooks
 * that hear of it.  Each function is called where the thing happens, once:
 * never for what an earlier manager has seen.  Inside src/manager only. */
#ifndef MANAGER_PUBLISH_H
#define MANAGER_PUBLISH_H

#include "manager/hooks.h"
#include "manager/events.h"
#include "config/eventname.h"

#include "manager/attempt_end.h"

#include <stddef.h>

struct buf;
struct err;
struct experiment;
struct experiment_folder;
struct live;
struct manager_outcome;
struct metric_line;
struct reported;
struct progress;
struct sources;
struct trial;

struct publish {
    const struct experiment *x;
    const struct experiment_folder *folder;
    const struct live *live;
    const struct sources *sources;
    struct progress *progress;
    const struct manager_outcome *outcome;
    bool resumed; /* the experiment goes on */

    struct events events;
    struct hooks hooks;
};

/* The bus and the hooks of the configuration; the folder is made. */
int publish_open(struct publish *p, const char *program_folder,
                 struct err *err);
void publish_close(struct publish *p);

/* experiment.ended; written to `out`, unless that is NULL, for who asks behind
 * it. */
void publish_ended(struct publish *p, struct buf *out);

/* experiment.started, .paused (why; else NULL), .continued */
void publish_experiment(struct publish *p, enum event_name name,
                        const char *why);
/* trial.waiting, .preparing, .prepared, .started */
void publish_trial(struct publish *p, enum event_name name,
                   const struct trial *t);
/* trial.ended, .paused, .interrupted, .retried: ctx is the publish. */
attempt_end_hear publish_hear_end;
void publish_metric(struct publish *p, const struct trial *t,
                    const struct metric_line *metric);
/* The assessor stops it. */
void publish_decision(struct publish *p, const struct trial *t);
void publish_best(struct publish *p, const struct reported *value,
                  const char *id);
/* plugin.error, dispatcher.restarted: a line of text. */
void publish_text(struct publish *p, enum event_name name, const char *text,
                  size_t len);

#endif
