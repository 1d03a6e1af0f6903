/* SPDX-License-Identifier: MIT */
/* fork_folder.h - what lies beside a forked log, so that an experiment can be
 * resumed and shown: configuration, search space, results so far. */
#ifndef CLI_FORK_FOLDER_H
#define CLI_FORK_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct fork_report;

/* Whether it is the folder of an experiment of `tunepipe run`. */
bool fork_folder_is_experiment(const char *folder);

/* Fills `to`, which holds the new log, from `from`.  -1: err tells; what was
 * written stays. */
int fork_folder_copy(const char *from, const char *to, uint64_t at,
                     const struct fork_report *report, struct err *err);

#endif
