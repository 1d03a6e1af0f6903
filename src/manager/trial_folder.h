/* SPDX-License-Identifier: MIT */
/* trial_folder.h - a trial's folder, and the files of it (trial/files.h) that
 * are written before it is started: plainly, since nobody reads them before.
 * What an earlier manager wrote there, too.  Inside src/manager only; one
 * thread. */
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

/* What the phase whose folder this is is run by, to be run again by hand. NULL:
 * out of memory. */
int trial_folder_recipe(const char *folder, const char *cwd,
                        const char *const command[], char *const env[],
                        struct err *err);

/* Opens the files of t->folder, which another manager made, to be read from the
 * start, and takes the stop that is recorded there.  Missing ones are left
 * out. */
void trial_folder_open(struct trial *t, bool wants_output);
/* Takes that stop alone. */
void trial_folder_stop(struct trial *t);

#endif
