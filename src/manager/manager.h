/* SPDX-License-Identifier: MIT */
/* manager.h - runs one experiment from beginning to end: one dispatcher, many
 * trials, one thread, one loop. */
#ifndef MANAGER_MANAGER_H
#define MANAGER_MANAGER_H

#include "manager/run.h"

struct err;
struct experiment;

/* Blocks the stop signals and ignores SIGPIPE, for good.  -1 when
 * it could not begin; else *out tells what came of it. */
int manager_run(const struct experiment *x,
                const struct manager_options *options,
                struct manager_outcome *out, struct err *err);

#endif
