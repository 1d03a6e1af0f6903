/* SPDX-License-Identifier: MIT */
/* happened.h - what the manager publishes on its bus (events.h), and the hooks
 * that hear of it.  Each function is called where the thing happens, once:
 * never for what an earlier manager has seen.  Inside src/manager only. */
#ifndef MANAGER_HAPPENED_H
#define MANAGER_HAPPENED_H

#include "config/eventname.h"

#include "manager/attempt_end.h"

#include <stddef.h>

struct buf;
struct err;
struct manager;
struct metric_line;
struct trial;

/* The bus and the hooks of the configuration; the folder is made. */
int happened_open(struct manager *m, struct err *err);
/* Tells that the experiment has ended and waits for its hooks, each as long as
 * it may take; a signal ends the waiting. */
void happened_finish(struct manager *m);
void happened_close(struct manager *m);
/* experiment.ended, for who asks behind it. */
void happened_over(struct manager *m, struct buf *out);

/* experiment.started, .paused (why; else NULL), .continued */
void happened_experiment(struct manager *m, enum event_name name,
                         const char *why);
/* trial.waiting, .preparing, .prepared, .started */
void happened_trial(struct manager *m, enum event_name name,
                    const struct trial *t);
/* trial.ended, .paused, .interrupted, .retried: ctx is the manager. */
attempt_end_hear happened_hear_end;
void happened_metric(struct manager *m, const struct trial *t,
                     const struct metric_line *metric);
/* The assessor stops it. */
void happened_decision(struct manager *m, const struct trial *t);
void happened_best(struct manager *m, double value, const char *id);
/* plugin.error, dispatcher.restarted: a line of text. */
void happened_text(struct manager *m, enum event_name name, const char *text,
                   size_t len);

#endif
