/* SPDX-License-Identifier: MIT */
/* state.h - the steps in which a report is read.  Inside src/report only. */
#ifndef REPORT_STATE_H
#define REPORT_STATE_H

#include "report/report.h"

/* What was suggested and not begun yet: by parameter_id, JSON text. */
struct suggested {
    char *parameters, *from_id;
    bool cloned;
};

struct reading {
    struct report *report;
    const char *folder;
    struct map trials;    /* trial_job_id -> its index, from 1 */
    struct map suggested; /* owned */
    struct map devices;   /* -> its index, from 1 */
};

/* The trial with this id, which is made where there is none; NULL: out of
 * memory.  Valid until the next one is made. */
struct report_trial *reading_trial(struct reading *r, const char *id);

/* What the log tells. */
int reading_log(struct reading *r, struct err *err);

/* The values of the trials' parameters as columns. */
int reading_parameters(struct reading *r, struct err *err);

/* What they tell about the results. */
int reading_importance(struct reading *r, struct err *err);

#endif
