/* SPDX-License-Identifier: MIT */
/* tuning.h - the side of a tuner that is a plugin: the tuner, the search space,
 * the trials given out, the ids owed, and what an advisor decides on trials;
 * one handler per command.  PROTOCOL.md, "To the dispatcher". */
#ifndef DISPATCHER_TUNING_H
#define DISPATCHER_TUNING_H

#include "dispatcher/emission.h"
#include "dispatcher/policy.h"

struct err;
struct log;
struct side;
struct tuner;

/* Borrows all until side_free().  NULL: out of memory. */
struct side *tuning_new(struct tuner *tuner, const struct policy *policy,
                        struct emitter emitter, const struct log *log,
                        struct err *err);

#endif
