/* SPDX-License-Identifier: MIT */
/* whatif.h - what another assessor would have done: it is fed the recorded
 * intermediate metrics in their order, and a trial ends for it where it says
 * stop.
 *
 * What the log cannot answer is marked.  Of a trial that was really stopped
 * nothing is known behind that.  And from the first decision on that is
 * another one than the recorded one, the tuner would have heard other results
 * and been asked at other times: trials that were given out later might have
 * been others.  One thread. */
#ifndef REPLAY_WHATIF_H
#define REPLAY_WHATIF_H

#include "command.h"
#include "json.h"
#include "objectives/objectives.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct log;
struct plugin_paths;

struct whatif_setup {
    const char *path; /* of the log */
    const struct plugin_paths *paths;
    const struct log *log; /* for what the assessor says */
    const char *assessor;  /* name or file of a plugin */
    struct jval args;      /* an object, or null */
    uint64_t until;        /* number of the last input; 0: all */
};

struct whatif_stop {
    bool stops;
    size_t step;      /* the value by which it was judged, from 0 */
    double value;     /* that value */
    uint64_t arrival; /* of the report */
    int64_t time_us;
};

struct whatif_trial {
    char *job;    /* trial_job_id */
    char *id;     /* parameter_id as JSON */
    size_t steps; /* reported without a gap, in its last
                     attempt */
    /* As recorded; as the other assessor decides. */
    struct whatif_stop really, then;
    bool ended, has_final;
    enum end_event event;
    double final; /* of several values, what is made of them over the ranges of
                     all final results */
    double values[OBJECTIVES_MAX], violation; /* where there are objectives */
    int64_t end_us; /* where it has not ended: time of the log's last record */
    uint64_t given_out; /* arrival number that its TR answers; 0: none */
    size_t saved_steps; /* steps reported behind a stop that the other assessor
                           decides */
    double saved_s;     /* seconds from there to its end */
    bool unknown; /* stopped in the record and not by the other assessor */
    bool open;    /* given out behind the first difference: the tuner might have
                     suggested other parameters */
};

struct whatif {
    struct whatif_trial *trials; /* in the order of their first report */
    size_t n, cap;
    char *assessor;         /* name, version, seed, arguments, as JSON */
    bool maximize;          /* as the log says */
    const char *scalarized; /* how final values are made of several; NULL: there
                               is one */
    bool judged_up;         /* higher is better in what the assessor judges */
    bool against;           /* the assessor's optimize_mode is the other one */
    uint64_t first; /* arrival number of the first other decision; 0: none */
    const struct whatif_trial *first_trial; /* the trial of that decision */
    const struct whatif_trial *best;        /* by final value; NULL: none */
    const struct whatif_trial *best_left;   /* by final value, of those that the
                                               other assessor did not stop */
    size_t stopped_really, stopped_then, stopped_same; /* same: in both, by the
                                                          same step */
    size_t unknown, open, steps, saved_steps;
    double saved_s;
};

/* Asks the other assessor.  -1: err tells.  whatif_fini() is to be called in
 * either case. */
int whatif_run(const struct whatif_setup *setup, struct whatif *out,
               struct err *err);
void whatif_fini(struct whatif *w);

#define DESCRIBED_MAX ((size_t)16 << 20) /* bytes of a description */

/* A plugin's description as a text, to be freed; takes `text`, which it was
 * written into as JSON.  *against: the plugin is told to do the opposite of
 * what the experiment does.  NULL: out of memory. */
char *whatif_description(struct buf *text, bool maximize, bool *against);

#endif
