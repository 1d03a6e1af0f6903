/* SPDX-License-Identifier: MIT */
/* blame.h - whether it is a machine that trials fail on: such a one is left out
 * (runner/machines.h), which is said, and kept.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_BLAME_H
#define MANAGER_BLAME_H

#include "manager/attempt_end.h"
#include "runner/machines.h"

struct experiment_folder;
struct progress;
struct run_end;

struct blame {
    const struct experiment_folder *folder;
    struct progress *progress;

    struct machines machines;
};

/* The folder is open: what earlier managers left out is, too. */
void blame_open(struct blame *b);

/* A run's end may say by itself that its machine runs none. */
void blame_run_end(struct blame *b, const struct run_end *end);
/* Of any trial: ctx is the blame. */
attempt_end_hear blame_hear_end;

/* The user takes a machine back. */
int blame_retry(struct blame *b, const char *machine, struct err *err);

#endif
