/* SPDX-License-Identifier: MIT */
/* environment.h - what a trial finds in its environment: ours, the manager's
 * own, and nothing of a run around this one.  One thread. */
#ifndef MANAGER_ENVIRONMENT_H
#define MANAGER_ENVIRONMENT_H

#include "core/map.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct problems;
struct trial;

struct environment {
    char **vars; /* ends with NULL, for execve(2) */
    size_t n, cap;
    struct map names; /* of vars but the inherited ones */
};

struct environment_of {
    const char *program_folder; /* comes first in PATH; may be NULL */
    const char *python_folder;  /* comes last in PYTHONPATH; may be NULL */
    const char *experiment_folder;
    const char *code_folder; /* where the trial runs */
    const char *saving;      /* where to save checkpoints */
    const char *restore;     /* the newest of them; NULL: none */
    uint64_t seed;           /* the experiment's */
    bool minimize;           /* its direction */
    bool prepares;           /* for prepareCommand: no device is granted */
    bool lockstep;           /* each intermediate report waits */
};

int environment_make(struct environment *e, const struct environment_of *of,
                     const struct trial *trial, struct jval parameters,
                     struct err *err);
void environment_fini(struct environment *e);

/* A note for each parameter of a search space whose variable is that of an
 * earlier one, which is then the one that a trial finds there. */
void environment_check_names(struct jval space, const char *place,
                             struct problems *notes);

#endif
