/* SPDX-License-Identifier: MIT */
/* experiment_folder.h - the folder of one experiment, and the files that the
 * manager writes into it (history/folder.h).  `tunepipe show` reads all it
 * prints from there, while the experiment runs, after it, and after a crash.
 *
 * One thread. */
#ifndef MANAGER_EXPERIMENT_FOLDER_H
#define MANAGER_EXPERIMENT_FOLDER_H

#include "core/buf.h"
#include "core/hold.h"
#include "history/folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct experiment;
struct objectives;
struct results;
struct trial;

struct experiment_folder {
    char *path;                          /* absolute */
    const char *id;                      /* the last part of path */
    uint64_t seed;                       /* the experiment's */
    const struct objectives *objectives; /* set once it is open; NULL: results
                                            are one number */
    bool begun;                          /* it had a manager before */
    int lock_fd, results_fd, log_fd;
    struct hold hold; /* by lock_fd */
    char *made;       /* the working folder that was made for it; NULL: none */
    int summary_fd;   /* room for summary.json, without a name; -1: none */
    struct buf held;  /* lines of results that could not be written yet */
    struct results *counted; /* results_walk_counting(); owned; or NULL */
    bool unbegun;            /* nothing is to be left of it */
};

#define EXPERIMENT_FOLDER_CLOSED                                        \
    (struct experiment_folder)                                          \
    {                                                                   \
        .lock_fd = -1, .results_fd = -1, .log_fd = -1, .summary_fd = -1 \
    }

/* Makes the folder WORKING_FOLDER/ID, where ID is the experiment's name, made
 * fit for a file, and the time, or takes the empty folder `into` (absolute;
 * NULL: there is none), and fills it.  On failure what was made stays.
 */
int experiment_folder_make(struct experiment_folder *f,
                           const struct experiment *x, const char *into,
                           uint64_t seed, struct err *err);

/* Takes over a folder whose manager has died or has ended: takes its lock, and
 * drops a line of its results that was cut off.  `path` is absolute and the
 * folder of an experiment.  -1: its manager lives, as err says, or it cannot be
 * opened. */
int experiment_folder_open(struct experiment_folder *f, const char *path,
                           uint64_t seed, struct err *err);

/* Removes the folder of an experiment that was not begun, too, and the working
 * folder, where it was made for it and nothing else is in it: when all that is
 * open in it is closed, as far file systems keep what is open. */
void experiment_folder_close(struct experiment_folder *f);

/* Appends the line of a trial that has ended.  Where a failure may pass, such
 * as a full disk, the line is held, and that is no failure. */
int experiment_folder_add_result(struct experiment_folder *f,
                                 const struct trial *t, const char *ended_by,
                                 double duration_s, struct err *err);

/* Appends the line of an attempt that was interrupted, to a file of its own. */
int experiment_folder_add_interrupted(const struct experiment_folder *f,
                                      const struct trial *t,
                                      const char *ended_by, double duration_s,
                                      struct err *err);
/* Writes the lines that are held, as far as possible; where not all are written
 * err tells why, else it is as before.  -1: trying again will not help. */
int experiment_folder_flush(struct experiment_folder *f, struct err *err);

/* Appends a line to the file of what the dispatcher says. */
int experiment_folder_add_log(const struct experiment_folder *f,
                              const char *line, size_t len, struct err *err);

/* The experiment has ended: writes how.  `reason` is one line for people;
 * `over`: nothing is left to be done. */
int experiment_folder_finish(struct experiment_folder *f, bool ok, bool over,
                             const char *reason, double duration_s,
                             struct err *err);

/* Starts the process that keeps the folder's database of results up to date
 * (`tunepipe index --follow`): nothing waits for it, and it ends by itself when
 * the manager has ended.  It needs the dispatcher's log to be there. */
int experiment_folder_index(const struct experiment_folder *f,
                            const char *program_folder, struct err *err);

#endif
