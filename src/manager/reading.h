/* SPDX-License-Identifier: MIT */
/* reading.h - the files of running trials, read as they grow: metrics go on to
 * the dispatcher.  Inside src/manager only. */
#ifndef MANAGER_READING_H
#define MANAGER_READING_H

#include "manager/metrics.h"
#include "manager/attempt_end.h"

#include <stdbool.h>

struct manager;
struct metric_line;
struct outcome;
struct trial;

void reading_begin(struct manager *m, struct trial *t);
/* Of any trial: ctx is the manager. */
attempt_end_hear reading_hear_end;

/* inotify has events. */
void reading_files(struct manager *m);

/* It is not its own doing that it reports nothing: it waits for an answer, or
 * its file for room. */
bool reading_waits(const struct manager *m, const struct trial *t);

/* Reads a portion of what there is. */
void reading_feed(struct manager *m, struct trial *t);

/* Reads a portion of what the trial's processes, all gone, have left.  False
 * while there is more: it is then among the unread. */
bool reading_drain(struct manager *m, struct trial *t);

/* Enters the metric into the values of the trial, and sends it to the
 * dispatcher unless that was told it before. */
void reading_take_metric(struct manager *m, struct trial *t,
                         const struct metric_line *metric);
/* What it has reported so far. */
struct metrics_count reading_count(const struct manager *m,
                                   const struct trial *t);

/* What the dispatcher knows as the trial's attempt: in lock step one that is
 * started again goes on where it was. */
uint64_t reading_attempt(const struct manager *m, const struct trial *t);

/* Sends as its final result what it did not report. */
void reading_tell(struct manager *m, struct trial *t, double value);

/* It was told to finish: its latest value, or that which reached its budget, is
 * its final one, unless it has one. */
void reading_finish(struct manager *m, struct trial *t);

/* A trial that ended well and named no final result has its last value, where
 * the configuration says so. */
void reading_promote(struct manager *m, struct trial *t,
                     const struct outcome *outcome);

/* Not twice when it is said twice. */
void unread_add(struct manager *m, struct trial *t);
/* All whose programs have ended, whatever they wait for. */
void unread_add_ended(struct manager *m);
/* Reads on, or to the end; may free them. */
void unread_feed(struct manager *m);

#endif
