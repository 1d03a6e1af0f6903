/* SPDX-License-Identifier: MIT */
/* trial_folder.h - a trial's folder, and the files in it (trial/files.h) that
 * are written before it is started: plainly, since nobody reads them before;
 * and what is read back of them, and of what an earlier manager wrote there.
 * Inside src/manager only; one thread. */
#ifndef MANAGER_TRIAL_FOLDER_H
#define MANAGER_TRIAL_FOLDER_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct packs;
struct trial;

/* What trials need in their folders beyond what all do; what it is may be seen
 * by what others did. */
struct trial_needs {
    bool output;           /* their stdout is read, too */
    bool nni;              /* NNI's files */
    bool lockstep;         /* each report waits */
    bool waited, unwaited; /* one that could wait for an answer did; did not */
    bool elsewhere;        /* they run on other machines */
};

/* Makes t->folder with all that does not depend on the phase, with the
 * parameters as the trial gets them.  A folder that cannot be finished stays.
 */
int trial_folder_make(struct trial *t, struct jval parameters,
                      const struct trial_needs *needs, struct err *err);

/* Makes NNI's files, and opens its metrics. */
int trial_folder_make_nni(struct trial *t, struct err *err);

/* Opens what there is by now of the files that are read, and is not open. */
void trial_folder_open(struct trial *t, const struct trial_needs *needs);

/* Of a trial that was placed: the folder, empty, where it has none.  -1: it
 * cannot be made. */
int trial_folder_need(const struct trial *t);

/* Makes the folder of prepareCommand, which lies in the trial's; NULL stands
 * for a path that there was no memory for. */
int trial_folder_prepare(const char *folder, struct err *err);

/* How exactly a phase of a trial was started: the bytes of its TRIAL_COMMAND
 * taken apart. */
struct trial_command {
    char *bytes;        /* in which all texts lie */
    const char *folder; /* in which the program was started */
    char **argv; /* with the program; each ends with NULL, for execve(2) */
    char **env;
};

/* Copies the bytes.  -1: these are no command; *c is then empty. */
int trial_command_read(struct trial_command *c, const char *bytes, size_t len,
                       struct err *err);
/* Reads that of a phase, in its folder or packed (packs.h; k may be NULL), from
 * wherever its version put it. */
int trial_command_load(struct trial_command *c, const char *folder,
                       struct packs *k, struct err *err);
void trial_command_fini(struct trial_command *c);

/* Writes into the trial's folder what it goes on from, by t->origin, t->restore
 * and t->step (TRIAL_ORIGIN); nothing where it goes on from nothing. */
int trial_folder_write_origin(const struct trial *t, struct err *err);
/* Of a trial whose folder is not made: what was given out, for a later manager
 * that finds the folder. */
int trial_folder_write_record(const struct trial *t, struct err *err);

/* Sets t->restore and t->step by that file; false: there is no such file. */
bool trial_folder_read_origin(struct trial *t);

/* What was given out, as a TR tells it, of a folder that another manager made,
 * be it packed; to be freed.  NULL: it does not tell. */
char *trial_folder_record(const char *folder, struct packs *k);

/* Takes the stop that is recorded there. */
void trial_folder_stop(struct trial *t);

#endif
