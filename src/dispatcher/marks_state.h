/* SPDX-License-Identifier: MIT */
/* marks_state.h - what marks.c and marks_save.c share.  Nobody else includes
 * it. */
#ifndef DISPATCHER_MARKS_STATE_H
#define DISPATCHER_MARKS_STATE_H

#include "core/idset.h"
#include "core/map.h"
#include "dispatcher/marks.h"

#define AHEAD_MAX 65536      /* sequences beyond a gap */
#define ENDED_JOBS_MAX 65536 /* jobs without a parameter id of their own */

struct living {
    struct parameter_id parameter;
    uint64_t attempt;
    uint64_t next;      /* all sequences below it are known */
    struct idset ahead; /* those beyond a gap: sequence modulo AHEAD_MAX */
    size_t n_ahead;
    bool killed;
    bool has_marks;
    struct mark latest, lowest, highest;
};

struct marks {
    struct map living;     /* job -> struct living */
    struct idset ended;    /* parameter ids that ended after reporting */
    struct map ended_jobs; /* job -> m: those without such an id */
    uint64_t issued;       /* one more than the highest id handed out */
    bool shared;           /* several jobs may have one parameter id: all jobs
                              that ended are in ended_jobs */
};

void marks_living_free(struct living *l);
/* Forgets what was reported before. */
void marks_start_attempt(struct living *l, uint64_t attempt);

#endif
