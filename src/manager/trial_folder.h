/* SPDX-License-Identifier: MIT */
/* trial_folder.h - a trial's folder, and the files of it (trial/files.h) that
 * are written before its wrapper runs: plainly, since nobody reads them before.
 * Inside src/manager only; one thread. */
#ifndef MANAGER_TRIAL_FOLDER_H
#define MANAGER_TRIAL_FOLDER_H

#include "json.h"

#include <stdbool.h>

struct err;
struct trial;

/* t->folder with all that does not depend on the phase; the tails, that of
 * standard output only where it is wanted, are open then.  A folder that
 * cannot be finished stays. */
int trial_folder_make(struct trial *t, struct jval parameters,
                      bool wants_output, struct err *err);

/* The folder of prepareCommand in it.  NULL: out of memory. */
int trial_folder_prepare(const char *folder, struct err *err);

/* The lease of the phase whose folder this is; sets t->lease_fd. */
int trial_folder_lease(struct trial *t, const char *folder, struct err *err);

/* What the wrapper of that phase is given, to be run again by hand. */
int trial_folder_recipe(const char *folder, const char *cwd,
                        const char *const command[], char *const env[],
                        struct err *err);

#endif
