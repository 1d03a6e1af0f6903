/* SPDX-License-Identifier: MIT */
/* configuration.h - the file of an experiment, read and checked.  Any thread.
 */
#ifndef CONFIG_CONFIGURATION_H
#define CONFIG_CONFIGURATION_H

#include "config/experiment.h"

struct err;
struct problems;

enum experiment_use {
    EXPERIMENT_RUN,      /* everything */
    EXPERIMENT_STUDY,    /* the same; without trialCommand and platform that is
                            `client` */
    EXPERIMENT_DISPATCH, /* tuner, filters, assessor, seed, earlyStopped,
                            sync, segmentSize, oldSegments: other keys are
                            known but neither required nor read */
};

/* Reads and checks the file.  NULL on failure: `problems` has a line for each
 * mistake and err the first of them.  `notes` (may be NULL) gets a line for
 * each key that is accepted without effect.  Freed by experiment_free(). */
struct experiment *experiment_read(const char *path, enum experiment_use use,
                                   struct problems *problems,
                                   struct problems *notes, struct err *err);
/* Reads and checks the file for a run or a study; `overrides` (overrides.h;
 * NULL: none) gives some of its keys in its place.  `check` (may be NULL) is
 * called with what could be read, and the file's name, as soon as it has a
 * search space, also where there are problems. */
typedef void experiment_check(const struct experiment *x, const char *file,
                              struct problems *problems,
                              struct problems *notes);
struct experiment *experiment_read_checked(
    const char *path, enum experiment_use use, const char *overrides,
    experiment_check *check, struct problems *problems, struct problems *notes,
    struct err *err);
/* Reads the copy that an experiment's folder keeps, with the search space as it
 * was sent: relative paths begin where the original stood, whose path is
 * `original`; `overrides` as before. */
struct experiment *experiment_read_kept(const char *path, const char *original,
                                        const char *space,
                                        const char *overrides,
                                        struct problems *problems,
                                        struct err *err);

#endif
