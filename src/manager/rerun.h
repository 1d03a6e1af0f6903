/* SPDX-License-Identifier: MIT */
/* rerun.h - one trial once more, as it was started: the same command, folder,
 * environment, seed and parameters, as its own folder keeps them; only what
 * named that folder names another one.  Nobody else hears of it.  One
 * thread. */
#ifndef MANAGER_RERUN_H
#define MANAGER_RERUN_H

#include "trial/outcome.h"

#include <stdbool.h>

struct err;
struct experiment;

struct rerun_outcome {
    struct outcome outcome;
    bool has_final, has_latest;
    bool done; /* it said so, and was ended if it ran on */
    double final, latest;
};

/* Runs the trial whose folder is `from` in `to`, which must not exist; both are
 * absolute.  Blocks the stop signals, for good: one ends the trial, as does
 * the end of this process.  -1: it was not started, or not watched to its
 * end. */
int rerun_trial(const struct experiment *x, const char *from, const char *to,
                struct rerun_outcome *out, struct err *err);

#endif
