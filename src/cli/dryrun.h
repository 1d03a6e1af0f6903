/* SPDX-License-Identifier: MIT */
/* dryrun.h - `tunepipe run --dry-run`: what a run would begin with. */
#ifndef CLI_DRYRUN_H
#define CLI_DRYRUN_H

#include <stdbool.h>

struct experiment;

/* Returns the exit status; what went wrong is told. */
int dryrun(const struct experiment *x, const char *dispatcher, bool json);

#endif
