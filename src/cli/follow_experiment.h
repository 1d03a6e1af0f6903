/* SPDX-License-Identifier: MIT */
/* follow_experiment.h - keeps something up to date while an experiment runs. */
#ifndef CLI_FOLLOW_EXPERIMENT_H
#define CLI_FOLLOW_EXPERIMENT_H

#include <stdint.h>

struct err;

/* Brings it up to date.  -1: err tells, and the experiment is followed no
 * more. */
typedef int follow_update(void *ctx, struct err *err);

/* Calls `update` at once, whenever the log has grown, but not before `rest_ns`
 * have passed since the last time, and once more when the experiment's manager
 * is gone.  Runs at a low priority. */
int follow_experiment(const char *folder, int64_t rest_ns,
                      follow_update *update, void *ctx, struct err *err);

#endif
