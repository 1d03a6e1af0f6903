/* SPDX-License-Identifier: MIT */
/* export_schedule.h - the line of trials that led to one, as a schedule that
 * the tuner pbt_replay runs again. */
#ifndef CLI_EXPORT_SCHEDULE_H
#define CLI_EXPORT_SCHEDULE_H

#include <stdbool.h>
#include <stdio.h>

struct err;

/* YAML, of which the trials are comments and the tuner is what a configuration
 * takes; or one line of JSON.  -1: err tells. */
int export_schedule(FILE *out, bool as_json, const char *folder,
                    const char *trial, struct err *err);

#endif
