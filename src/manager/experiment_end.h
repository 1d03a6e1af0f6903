/* SPDX-License-Identifier: MIT */
/* experiment_end.h - that the experiment is to end, and why: known from the
 * first reason on, while trials may still run.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_EXPERIMENT_END_H
#define MANAGER_EXPERIMENT_END_H

#include "manager/run.h"

#include <stdbool.h>

struct progress;

struct experiment_end {
    struct manager_outcome *outcome;
    struct progress *progress;
    void (*hear)(void *ctx); /* once, when it has become known */
    void *ctx;
    bool known;        /* outcome->end is set, nothing is admitted any more */
    bool told;         /* by `stop`, which means its trials, too */
    bool interrupting; /* what runs was told to end, for the next manager */
};

/* The first reason stays; what is no success is told the user, if the
 * dispatcher has not done so. */
void experiment_ends(struct experiment_end *e, enum manager_end end,
                     const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
