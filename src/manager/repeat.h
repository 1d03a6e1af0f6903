/* SPDX-License-Identifier: MIT */
/* repeat.h - trials that have ended, once more: new ones, as in custom.h, with
 * their parameters, on top of maxTrialNumber.  Inside src/manager only; one
 * thread. */
#ifndef MANAGER_REPEAT_H
#define MANAGER_REPEAT_H

#include "json.h"

#include <stddef.h>

struct buf;
struct custom;
struct err;
struct experiment_folder;
struct live;
struct progress;

struct repeat {
    struct custom *custom;
    const struct experiment_folder *folder;
    const struct live *live;
    struct progress *progress;
};

/* "trials", an array of numbers: all of them or, -1, none.  The new ones' ids
 * are appended to `ids`, as members of an array. */
int repeat_named(struct repeat *r, struct jval list, struct json_writer *ids,
                 struct err *err);

/* All that failed, were lost or out of memory, and whose parameters no later
 * trial has; there may be none.  *n: how many. */
int repeat_failed(struct repeat *r, struct json_writer *ids, size_t *n,
                  struct err *err);

/* The same where an experiment goes on, said to the user. */
int repeat_all(struct repeat *r, struct err *err);

#endif
