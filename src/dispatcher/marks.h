/* SPDX-License-Identifier: MIT */
/* marks.h - what the router knows of each living trial: which parameters it
 * runs, the latest, lowest and highest of its intermediate values, whether
 * our KI for it has been written.  Dropped at the trial's end; what stays is
 * one bit per ended trial.  The router's alone: reader thread, or replay. */
#ifndef DISPATCHER_MARKS_H
#define DISPATCHER_MARKS_H

#include "command.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct idset;
struct jval;
struct marks;
struct unpack;
struct viewer;

struct marks *marks_new(void);
void marks_free(struct marks *m);

/* From now on several jobs may say that they run one suggestion, as those of
 * NNI 3.0's manager may (reunion.h): each has its own end, and what an end
 * says is no hint where another job is known to run that. */
void marks_share(struct marks *m);

/* What is to be done with a metric. */
enum marks_verdict {
    MARKS_COUNTED,    /* pass it on */
    MARKS_SECOND,     /* this trial, attempt and sequence were there before */
    MARKS_ENDED,      /* the trial has ended */
    MARKS_UNKNOWN,    /* no trial of this parameter id was ever issued */
    MARKS_SUPERSEDED, /* a newer attempt has reported */
    MARKS_TOO_FAR,    /* the sequence is too far ahead of what is known */
    MARKS_MEMORY,
};

/* An intermediate metric (METRIC_PERIODICAL with a value). */
enum marks_verdict marks_metric(struct marks *m, const struct metric *metric);

/* A final metric: only remembers which parameters the job runs. */
enum marks_verdict marks_final(struct marks *m, const struct metric *metric);

/* Stamps the end of a trial and forgets it. */
int marks_end(struct marks *m, struct trial_end *end);

/* Our KI for that trial was written. */
void marks_killed(struct marks *m, const char *job);

/* Ids that an earlier run may have handed out: one bit each is kept. */
#define MARKS_RECOVERED_MAX 100000000

/* Ids below `next` were issued, in a TR or before this session (AD: at most
 * MARKS_RECOVERED_MAX + 1). */
void marks_issued(struct marks *m, uint64_t next);

/* ---- where the manager was started again ---- */

/* The records of `list` (AD) run again from the beginning, as `attempt`; their
 * numbers are added to *rerun. */
int marks_rerun(struct marks *m, struct jval list, uint64_t attempt,
                struct idset *rerun);
/* The attempt of a metric, or of an end (sequence above 0): `attempt`, or the
 * one behind it.  NNI 2.10 says once more what a trial that it runs again had
 * reported before; a sequence 0 that comes again is the real begin. */
uint64_t marks_attempt(const struct marks *m, const char *job,
                       uint64_t sequence, uint64_t attempt,
                       const struct idset *rerun);
/* Adds the living trials to cmd's runs. */
int marks_list(const struct marks *m, struct command *cmd);
/* The same for those of an attempt before `attempt` alone, which end with it.
 */
int marks_lose(struct marks *m, uint64_t attempt, struct command *cmd);

/* See view.h. */
void marks_see(const struct marks *m, const struct viewer *viewer);

/* As pack.h: into empty ones, -1: damaged, or out of memory. */
void marks_save(const struct marks *m, struct buf *out);
int marks_load(struct marks *m, struct unpack *in);

#endif
