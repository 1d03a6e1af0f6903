/* SPDX-License-Identifier: MIT */
/* environment.h - the environment of a trial: our variables, the manager's own,
 * and none that a run around this one has set.  One thread. */
#ifndef MANAGER_ENVIRONMENT_H
#define MANAGER_ENVIRONMENT_H

#include "core/map.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct problems;
struct trial;

struct environment {
    char **vars; /* ends with NULL, for execve(2) */
    size_t n, cap;
    struct map names; /* of our variables */
};

/* What the environment of a trial is made of. */
struct environment_of {
    const char *program_folder; /* comes first in PATH; may be NULL */
    const char *python_folder;  /* comes last in PYTHONPATH; may be NULL */
    const char *experiment_folder;
    const char *code_folder; /* where the trial runs */
    const char *saving;      /* the folder to save checkpoints in */
    const char *restore;     /* the checkpoint to go on from; NULL: none */
    uint64_t seed;           /* the experiment's */
    bool minimize;           /* the experiment's direction */
    bool prepares;           /* it is for prepareCommand, which has no device */
    bool lockstep;           /* each intermediate report waits for its answer */
    const struct objectives *objectives; /* the values that results have;
                                            NULL: one number */
};

int environment_make(struct environment *e, const struct environment_of *of,
                     const struct trial *trial, struct jval parameters,
                     struct err *err);
void environment_fini(struct environment *e);

/* Appends the name of the variable in which a trial finds a parameter. */
void environment_variable(const char *name, struct buf *out);

/* Calls `take` for each parameter of a search space, flattened as those of a
 * trial are (trial/files.h), one under several choices several times; `name` is
 * borrowed during the call. */
typedef void environment_take_name(void *ctx, const char *name);
void environment_names(struct jval space, environment_take_name *take,
                       void *ctx);

/* Adds a note for each parameter of a search space whose variable has the same
 * name as that of an earlier parameter, which is the one that a trial finds
 * there. */
void environment_check_names(struct jval space, const char *place,
                             struct problems *notes);

#endif
