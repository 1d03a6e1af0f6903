/* SPDX-License-Identifier: MIT */
/* marks.h - what the router keeps of each living trial, to stamp its end with:
 * which parameters it runs, the latest, lowest and highest of its intermediate
 * values ("marks"), whether our KI for it has been written.  All of that is
 * dropped at the trial's end; what stays is one bit per ended trial.  The
 * router's alone: the reader's thread, or replay's. */
#ifndef DISPATCHER_MARKS_H
#define DISPATCHER_MARKS_H

#include "command.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct idset;
struct jval;
struct marks;
struct objectives;
struct unpack;
struct viewer;

struct marks *marks_new(void);
void marks_free(struct marks *m);

/* From now on several jobs may say that they run one suggestion, as those of
 * NNI 3.0's manager may (reunion.h): each has its own end, and what an end
 * says is no hint where another job is known to run that. */
void marks_share(struct marks *m);

/* From now on marks have the values by these objectives (borrowed), and what is
 * lowest and highest without is the best: the first report, or a later one that
 * dominates the best before it, or that is not dominated by it and has other
 * values. */
void marks_judge(struct marks *m, const struct objectives *o);

/* What is to be done with a metric, and why. */
enum marks_verdict {
    MARKS_COUNTED,    /* pass it on */
    MARKS_REPEATED,   /* the trial has reported this attempt and sequence before
                       */
    MARKS_ENDED,      /* the trial has ended */
    MARKS_UNKNOWN,    /* no suggestion of this parameter id was given out */
    MARKS_SUPERSEDED, /* a newer attempt of the trial has reported */
    MARKS_TOO_FAR,    /* the sequence is too far ahead of the last known one */
    MARKS_MEMORY,
};

/* Takes in an intermediate metric (METRIC_PERIODICAL) that has a value. */
enum marks_verdict marks_metric(struct marks *m, const struct metric *metric);

/* Takes in a final metric: only remembers which parameters the job runs. */
enum marks_verdict marks_final(struct marks *m, const struct metric *metric);

/* Stamps a trial's end with what is known of the trial, which is then
 * forgotten. -1: out of memory. */
int marks_end(struct marks *m, struct trial_end *end);

/* Notes that our KI for that trial was written. */
void marks_killed(struct marks *m, const char *job);

/* Ids that an earlier run may have handed out: one bit each is kept. */
#define MARKS_RECOVERED_MAX 100000000

/* Notes that the ids below `next` are given out, in a TR or before this session
 * (AD: at most MARKS_RECOVERED_MAX + 1). */
void marks_issued(struct marks *m, uint64_t next);

/* ---- where the manager was started again ---- */

/* Begins attempt `attempt` of the trials that `list` (AD) names, which run
 * again from the beginning; their parameter ids are added to *rerun.  -1: out
 * of memory. */
int marks_rerun(struct marks *m, struct jval list, uint64_t attempt,
                struct idset *rerun);
/* Which attempt a metric of that sequence belongs to: `attempt`, or the one
 * behind it (for an end, `sequence` is above 0).  NNI 2.10 repeats what a trial
 * that it runs again had reported before; when a sequence 0 comes a second
 * time, the trial has really begun. */
uint64_t marks_attempt(const struct marks *m, const char *job,
                       uint64_t sequence, uint64_t attempt,
                       const struct idset *rerun);
/* Adds all living trials to cmd's runs.  -1: out of memory. */
int marks_list(const struct marks *m, struct command *cmd);
/* Adds the living trials of an attempt before `attempt` to cmd's runs, and ends
 * them.  -1: out of memory. */
int marks_lose(struct marks *m, uint64_t attempt, struct command *cmd);

/* Shows the living trials to the viewer (view.h). */
void marks_see(const struct marks *m, const struct viewer *viewer);

/* Packs them, and reads them into new ones, as pack.h says; -1: damaged, or out
 * of memory. */
void marks_save(const struct marks *m, struct buf *out);
int marks_load(struct marks *m, struct unpack *in);

#endif
