/* SPDX-License-Identifier: MIT */
/* state.h - the steps in which a report is read.  Inside src/report only. */
#ifndef REPORT_STATE_H
#define REPORT_STATE_H

#include "report/report.h"

struct reading {
    struct report *report;
    const char *folder;
    struct map trials;  /* trial_job_id -> its index, from 1 */
    struct map devices; /* -> its index, from 1 */
};

/* The values of the trials' parameters as columns. */
int reading_parameters(struct reading *r, struct err *err);

/* What they tell about the results. */
int reading_importance(struct reading *r, struct err *err);

#endif
