/* SPDX-License-Identifier: MIT */
/* rerun.h - one trial run once more exactly as it was started: with the
 * command, working folder, environment, seed and parameters that its own folder
 * keeps; only what named that folder names another one.  The dispatcher is not
 * told. One thread. */
#ifndef MANAGER_RERUN_H
#define MANAGER_RERUN_H

#include "objectives/objectives.h"
#include "trial/outcome.h"

#include <stdbool.h>

struct err;
struct experiment;

struct rerun_outcome {
    struct outcome outcome;
    bool has_final, has_latest;
    bool done; /* the trial said that it was, and was ended if it ran on */
    double final, latest;
    /* With objectives: all values of the final result, or of the last
     * intermediate one where that counts as it. */
    struct objective_values values;
};

/* Runs the trial whose folder is `from` in the folder `to`, which must not
 * exist; both are absolute.  Blocks the stop signals, for good: one of them
 * ends the trial, as does the end of this process.  -1: the trial could not be
 * started, or not be watched to its end. */
int rerun_trial(const struct experiment *x, const char *from, const char *to,
                struct rerun_outcome *out, struct err *err);

#endif
