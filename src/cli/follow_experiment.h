/* SPDX-License-Identifier: MIT */
/* follow_experiment.h - something that is kept up to date while an experiment
 * runs. */
#ifndef CLI_FOLLOW_EXPERIMENT_H
#define CLI_FOLLOW_EXPERIMENT_H

#include <stdint.h>

struct err;

/* -1: err tells, and no more is followed. */
typedef int follow_update(void *ctx, struct err *err);

/* Updates once, whenever the log has grown, but not before `rest_ns` behind the
 * time before, and once more when the experiment's manager is gone.  It gives
 * way to everybody else. */
int follow_experiment(const char *folder, int64_t rest_ns,
                      follow_update *update, void *ctx, struct err *err);

#endif
