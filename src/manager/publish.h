/* SPDX-License-Identifier: MIT */
/* publish.h - what the manager publishes on its bus (events.h), and the hooks
 * that hear of it.  Each function is called where the thing happens, once:
 * never for what an earlier manager has seen.  Inside src/manager only. */
#ifndef MANAGER_PUBLISH_H
#define MANAGER_PUBLISH_H

#include "config/eventname.h"

#include "manager/attempt_end.h"

#include <stddef.h>

struct buf;
struct err;
struct manager;
struct metric_line;
struct trial;

/* The bus and the hooks of the configuration; the folder is made. */
int publish_open(struct manager *m, struct err *err);
/* Tells that the experiment has ended and waits for its hooks, each as long as
 * it may take; a signal ends the waiting. */
void publish_finish(struct manager *m);
void publish_close(struct manager *m);
/* experiment.ended, for who asks behind it. */
void publish_over(struct manager *m, struct buf *out);

/* experiment.started, .paused (why; else NULL), .continued */
void publish_experiment(struct manager *m, enum event_name name,
                        const char *why);
/* trial.waiting, .preparing, .prepared, .started */
void publish_trial(struct manager *m, enum event_name name,
                   const struct trial *t);
/* trial.ended, .paused, .interrupted, .retried: ctx is the manager. */
attempt_end_hear publish_hear_end;
void publish_metric(struct manager *m, const struct trial *t,
                    const struct metric_line *metric);
/* The assessor stops it. */
void publish_decision(struct manager *m, const struct trial *t);
void publish_best(struct manager *m, double value, const char *id);
/* plugin.error, dispatcher.restarted: a line of text. */
void publish_text(struct manager *m, enum event_name name, const char *text,
                  size_t len);

#endif
