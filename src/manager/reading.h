/* SPDX-License-Identifier: MIT */
/* reading.h - the files of running trials, read as they grow: metrics go on to
 * the dispatcher.  Inside src/manager only. */
#ifndef MANAGER_READING_H
#define MANAGER_READING_H

#include "core/map.h"
#include "core/list.h"
#include "manager/metrics.h"
#include "manager/attempt_end.h"

#include <stdbool.h>

struct absent;
struct checkpoints;
struct delivery;
struct exchange;
struct experiment;
struct live;
struct metric_line;
struct outcome;
struct patterns;
struct progress;
struct publish;
struct reported;
struct stopping;
struct trial;
struct trial_needs;

struct reading {
    const struct experiment *x;
    struct patterns *patterns; /* of intermediate results in stdout; NULL */
    struct live *live;
    struct delivery *delivery;
    struct exchange *exchange;
    struct checkpoints *checkpoints;
    struct absent *absent;
    const struct stopping *stopping;
    struct publish *publish;
    struct progress *progress;
    struct trial_needs *needs;

    int inotify_fd;
    struct map watches; /* inotify's number, of a trial's folder or of a file in
                           it -> struct trial */
    struct list unread; /* trials whose files may hold more */
    uint64_t late;      /* reports of trials that had ended, or were to */
};

void reading_begin(struct reading *r, struct trial *t);
/* Of any trial: ctx is the reading. */
attempt_end_hear reading_hear_end;

/* inotify has events. */
void reading_files(struct reading *r);

/* The next line of its metrics, of a trial that has no such file: its report
 * ends (metric_line) at its sequence. */
void reading_line(struct reading *r, struct trial *t, const char *line,
                  size_t len);

/* It is not its own doing that it reports nothing: it waits for an answer, or
 * its file for room. */
bool reading_waits(const struct reading *r, const struct trial *t);

/* Reads a portion of what there is. */
void reading_feed(struct reading *r, struct trial *t);

/* Reads a portion of what the trial's processes, all gone, have left.  False
 * while there is more: it is then among the unread. */
bool reading_drain(struct reading *r, struct trial *t);

/* Enters the metric into the values of the trial, and sends it to the
 * dispatcher unless that was told it before. */
void reading_take_metric(struct reading *r, struct trial *t,
                         const struct metric_line *metric);
/* What it has reported so far. */
struct metrics_count reading_count(const struct reading *r,
                                   const struct trial *t);

/* Sends as its final result what it did not report. */
void reading_tell(struct reading *r, struct trial *t,
                  const struct reported *value);

/* It was told to finish: its latest value, or that which reached its budget, is
 * its final one, unless it has one. */
void reading_finish(struct reading *r, struct trial *t);

/* A trial that ended well and named no final result has its last value, where
 * the configuration says so. */
void reading_promote(struct reading *r, struct trial *t,
                     const struct outcome *outcome);

/* Not twice when it is said twice. */
void unread_add(struct reading *r, struct trial *t);
/* All whose programs have ended, whatever they wait for. */
void unread_add_ended(struct reading *r);

#endif
