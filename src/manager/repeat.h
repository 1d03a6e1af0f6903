/* SPDX-License-Identifier: MIT */
/* repeat.h - trials that have ended, once more: new trials with their
 * parameters, on top of maxTrialNumber, from whose results the tuner learns.
 * They are put into the queue; nothing is started here.  Inside src/manager
 * only; one thread. */
#ifndef MANAGER_REPEAT_H
#define MANAGER_REPEAT_H

#include "json.h"

#include <stddef.h>

struct buf;
struct err;
struct manager;

/* "trials", an array of numbers: all of them or, -1, none.  The new ones' ids
 * are appended to `ids`, as members of an array. */
int repeat_named(struct manager *m, struct jval list, struct buf *ids,
                 struct err *err);

/* All that failed, were lost or out of memory, and whose parameters no later
 * trial has; there may be none.  *n: how many. */
int repeat_failed(struct manager *m, struct buf *ids, size_t *n,
                  struct err *err);

/* The same where an experiment goes on, said to the user. */
int repeat_all(struct manager *m, struct err *err);

#endif
